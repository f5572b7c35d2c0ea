/* The same in C. */
#include <ounce/app.h>
#include <stdio.h>

int main(int argc, char** argv) {
  ounce_app_session* session = NULL;
  ounce_app_call* call = NULL;
  int status;
  if (argc != 2 || ounce_app_abi_version() != OUNCE_APP_ABI_VERSION) return 2;
  status = ounce_app_open(argv[1], NULL, &session);
  if (status == OUNCE_APP_OK) status = ounce_app_call_new(session, NULL, &call);
  if (status == OUNCE_APP_OK) status = ounce_app_call_run(call, -1);
  if (status != OUNCE_APP_OK) fprintf(stderr, "%s\n", ounce_app_error());
  ounce_app_call_free(call);
  ounce_app_close(session);
  return status;
}
