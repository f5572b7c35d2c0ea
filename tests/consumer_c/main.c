/* Compresses a model's weights to 8 bits, and compares its outputs with the original's. */
#include <ounce/ounce.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  char options[4096];
  ounce_call* call;
  int code;
  if (argc != 2 || ounce_abi_version() != OUNCE_ABI_VERSION) return 2;
  snprintf(options, sizeof options, "{\"model\": \"%s\", \"to\": \"w8\", \"output\": \"consumer_c.w8.onnx\"}",
           argv[1]);
  call = ounce_call_new("quantize");
  code = ounce_call_options(call, options);
  if (code == 0) code = ounce_call_run(call);
  if (code != 0 && ounce_call_error(call)) fprintf(stderr, "%s\n", ounce_call_error(call)->message);
  if (code == 0) {
    printf("ounce %s: %s", ounce_version(), ounce_call_text(call));
    /* The result must have been run. */
    if (strstr(ounce_call_document(call), "\"tried\": true") == NULL) code = 1;
  }
  ounce_call_free(call);
  return code;
}
