/* A C program that uses the library: quantizes the example and compares the result with it on its own data. The library
 * must not print anything. */
#define _POSIX_C_SOURCE 200809L
#include <ounce/ounce.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* kOutput = "c_user.onnx";

/* Redirects standard output and error to a file, and restores them at the end. */
static int kept_streams[2];
static FILE* silence;

static void begin_silence(void) {
  fflush(NULL);
  silence = tmpfile();
  for (int i = 0; i < 2; ++i) {
    kept_streams[i] = dup(i + 1);
    dup2(fileno(silence), i + 1);
  }
}

static long printed_bytes(void) {
  fflush(NULL);
  const long bytes = (long)lseek(fileno(silence), 0, SEEK_END);
  for (int i = 0; i < 2; ++i) dup2(kept_streams[i], i + 1);
  return bytes;
}

/* Exits with an error message if a condition is false. */
static void require(int is_right, const char* what, const ounce_call* call) {
  if (is_right) return;
  printed_bytes();
  const ounce_error* error = ounce_call_error(call);
  printf("%s%s%s\n", what, error ? ": " : "", error ? error->message : "");
  exit(1);
}

static void quantize(const char* model) {
  char options[4096];
  snprintf(options, sizeof options,
           "{\"model\": \"%s\", \"output\": \"%s\", \"to\": \"w8\", \"verify\": false}", model, kOutput);
  ounce_call* call = ounce_call_new("quantize");
  require(ounce_call_options(call, options) == OUNCE_OK, "options", call);
  require(ounce_call_run(call) == OUNCE_OK, "quantize", call);
  require(strstr(ounce_call_document(call), "\"stored_as\": \"w8\"") != NULL, "no document", call);
  require(strstr(ounce_call_text(call), kOutput) != NULL, "no text", call);
  ounce_call_free(call);
}

static int is_called;
static int on_progress(void* user, const char* what, const char* stage, uint64_t done, uint64_t total) {
  (void)what, (void)stage, (void)done, (void)total;
  *(int*)user = 1;
  return 0;
}

static void verify(const char* model) {
  enum { kSamples = 16, kLength = 8000 };
  float* values = malloc(sizeof(float) * kSamples * kLength);
  for (int i = 0; i < kSamples * kLength; ++i) values[i] = (float)((i * 7919L) % 2000) / 2000 - 0.5F;
  const int64_t shape[] = {kSamples, kLength};
  const ounce_array clips = {"audio", "float32", shape, 2, values};

  char options[4096];
  snprintf(options, sizeof options, "{\"reference\": \"%s\", \"candidate\": \"%s\", \"edge_cases\": false}",
           model, kOutput);
  ounce_call* call = ounce_call_new("verify");
  require(ounce_call_options(call, options) == OUNCE_OK, "options", call);
  require(ounce_call_array(call, &clips) == OUNCE_OK, "array", call);
  require(ounce_call_on_progress(call, on_progress, &is_called) == OUNCE_OK, "callback", call);
  const int code = ounce_call_run(call);
  require(code == OUNCE_OK || code == OUNCE_GATE_FAILED, "verify", call);
  require(strstr(ounce_call_document(call), "\"samples\": 16") != NULL, "other samples", call);
  ounce_call_free(call);
  free(values);
}

static void refuse(void) {
  ounce_call* call = ounce_call_new("quantize");
  require(ounce_call_options(call, "{\"model\": \"nothing.onnx\"}") == OUNCE_OK, "options", call);
  require(ounce_call_run(call) == OUNCE_IO, "a file that is not there", call);
  require(ounce_call_error(call) != NULL && ounce_call_error(call)->code == OUNCE_IO, "no error", call);
  ounce_call_free(call);
}

int main(int argc, char** argv) {
  if (argc != 2 || ounce_abi_version() != OUNCE_ABI_VERSION) return 2;
  begin_silence();
  quantize(argv[1]);
  verify(argv[1]);
  refuse();
  const long bytes = printed_bytes();
  printf("ounce %s: %ld bytes printed\n", ounce_version(), bytes);
  return bytes == 0 ? 0 : 1;
}
