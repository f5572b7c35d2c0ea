/* Tests libounce_app from C: every function of app.h, and every kind of error.
 *
 *   app_user MODEL CACHE ONNXRUNTIME
 */
#include <fcntl.h>
#include <ounce/app.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int line_of_failure;
#define MUST(holds)                                                              \
  do {                                                                           \
    if (!(holds)) {                                                              \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #holds, ounce_app_error()); \
      line_of_failure = __LINE__;                                                \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

static int stages[4];
static int on_progress(void* user, int stage, double share) {
  MUST(user == (void*)stages && stage >= 0 && stage < 4 && share >= 0 && share <= 1);
  ++stages[stage];
  return 0;
}
static int stop_at_once(void* user, int stage, double share) {
  (void)user, (void)stage, (void)share;
  return 1;
}

static void run_it(ounce_app_session* session, float* logits) {
  ounce_app_call* call = NULL;
  ounce_app_call_options options = {0};
  const int64_t* shape = NULL;
  const void* output = NULL;
  void* input = NULL;
  size_t bytes = 0, rank = 0, i;
  options.size = sizeof options;
  options.batch = 2;
  MUST(ounce_app_call_new(session, &options, &call) == OUNCE_APP_OK);
  MUST(ounce_app_call_input(call, "audio", OUNCE_APP_FLOAT32, &input, &bytes) == OUNCE_APP_OK);
  MUST(bytes == 2 * 8000 * sizeof(float));
  for (i = 0; i < 16000; ++i) ((float*)input)[i] = (float)((i % 8000) * 37 % 101) / 500.0F - 0.1F;
  MUST(ounce_app_call_run(call, -1) == OUNCE_APP_OK);
  MUST(ounce_app_call_output(call, NULL, OUNCE_APP_ANY, &output, &bytes) == OUNCE_APP_OK);
  MUST(bytes == 2 * 10 * sizeof(float));
  MUST(memcmp(output, (const char*)output + bytes / 2, bytes / 2) == 0); /* both rows are the same */
  memcpy(logits, output, bytes / 2);
  MUST(ounce_app_call_output_shape(call, "logits", &shape, &rank) == OUNCE_APP_OK);
  MUST(rank == 2 && shape[0] == 2 && shape[1] == 10);
  MUST(ounce_app_call_input_shape(call, NULL, &shape, &rank) == OUNCE_APP_OK && rank == 3);
  MUST(ounce_app_call_input(call, "nothing", OUNCE_APP_FLOAT32, &input, &bytes) == OUNCE_APP_USAGE);
  MUST(strstr(ounce_app_error(), "no input is named 'nothing'") != NULL);
  MUST(ounce_app_call_input(call, "audio", OUNCE_APP_INT64, &input, &bytes) == OUNCE_APP_USAGE);
  MUST(ounce_app_call_run(call, 1) == OUNCE_APP_TIMEOUT); /* a nanosecond */
  ounce_app_call_cancel(call);
  MUST(ounce_app_call_run(call, 60000000000LL) == OUNCE_APP_OK);
  ounce_app_call_free(call);
}

/* The candidate is the model itself, so all outputs are equal, and all are counted. */
static void watch(const char* model, const ounce_app_options* load) {
  ounce_app_session* session = NULL;
  ounce_app_shadow* shadow = NULL;
  ounce_app_call* call = NULL;
  ounce_app_shadow_options options = {0};
  ounce_app_shadow_figures figures = {0};
  const void* output = NULL;
  void* input = NULL;
  size_t bytes = 0, i;
  options.size = sizeof options;
  options.stays_in_process = 1;
  options.load = load;
  MUST(ounce_app_open(model, load, &session) == OUNCE_APP_OK);
  MUST(ounce_app_shadow_new(session, NULL, &options, &shadow) == OUNCE_APP_USAGE && shadow == NULL);
  MUST(ounce_app_shadow_new(session, "no such model", &options, &shadow) == OUNCE_APP_IO && shadow == NULL);
  MUST(ounce_app_shadow_new(session, model, &options, &shadow) == OUNCE_APP_OK);
  ounce_app_close(session);
  MUST(ounce_app_shadow_call_new(shadow, NULL, &call) == OUNCE_APP_OK);
  MUST(ounce_app_call_input(call, "audio", OUNCE_APP_FLOAT32, &input, &bytes) == OUNCE_APP_OK);
  for (i = 0; i < bytes / sizeof(float); ++i) ((float*)input)[i] = (float)(i * 37 % 101) / 500.0F - 0.1F;
  for (i = 0; i < 3; ++i) {
    MUST(ounce_app_call_run(call, -1) == OUNCE_APP_OK);
    MUST(ounce_app_shadow_flush(shadow, -1) == OUNCE_APP_OK);
  }
  MUST(ounce_app_call_output(call, "logits", OUNCE_APP_FLOAT32, &output, &bytes) == OUNCE_APP_OK);
  MUST(bytes == 10 * sizeof(float) && !ounce_app_call_was_canary(call));
  MUST(ounce_app_shadow_get_figures(shadow, &figures) == OUNCE_APP_USAGE);
  figures.size = sizeof figures;
  MUST(ounce_app_shadow_get_figures(shadow, &figures) == OUNCE_APP_OK);
  MUST(figures.calls == 3 && figures.compared == 3 && figures.dropped == 0 && figures.errors == 0);
  MUST(figures.agreement == 1 && figures.sqnr_db > 1e9 && figures.canary_share == 0);
  ounce_app_shadow_free(shadow);
  ounce_app_call_free(call);
}

int main(int argc, char** argv) {
  ounce_app_options options = {0};
  ounce_app_session* session = NULL;
  ounce_app_unpacked unpacked = {0};
  ounce_app_facts facts = {0};
  ounce_app_value value;
  float plain[10], mapped[10], read[10];
  char text[64];
  size_t bytes = 0;
  long length;
  void* memory;
  FILE* file;
  int descriptor;
  if (argc != 4) return 2;
  MUST(ounce_app_abi_version() == OUNCE_APP_ABI_VERSION);
  MUST(strcmp(ounce_app_status_name(OUNCE_APP_WRONG_DIGEST), "wrong_digest") == 0);
  options.size = sizeof options;
  options.library = argv[3];
  options.progress = on_progress;
  options.user = stages;
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_OK);
  MUST(stages[0] == 1 && stages[1] == 0 && stages[2] == 1 && stages[3] == 2);
  MUST(ounce_app_input_count(session) == 1 && ounce_app_output_count(session) == 1);
  MUST(ounce_app_input(session, 0, &value) == OUNCE_APP_OK);
  MUST(strcmp(value.name, "audio") == 0 && value.type == OUNCE_APP_FLOAT32 && value.rank == 3 &&
       value.shape[0] == -1);
  MUST(ounce_app_output(session, 1, &value) == OUNCE_APP_USAGE);
  facts.size = sizeof facts;
  MUST(ounce_app_get_facts(session, &facts) == OUNCE_APP_OK && !facts.is_unpacked &&
       facts.runtime_version[0] == '1');
  MUST(ounce_app_metadata(session, "no.such.key", text, sizeof text, &bytes) == OUNCE_APP_OK && bytes == 0);
  run_it(session, plain);
  ounce_app_close(session);

  /* A model that was precompiled before gives the same bits. */
  unpacked.size = sizeof unpacked;
  MUST(ounce_app_unpack(argv[1], argv[2], &options, &unpacked) == OUNCE_APP_OK);
  MUST(unpacked.is_unpacked && access(unpacked.file, R_OK) == 0);
  options.cache = argv[2];
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_OK);
  MUST(ounce_app_get_facts(session, &facts) == OUNCE_APP_OK && facts.is_unpacked);
  run_it(session, mapped);
  MUST(memcmp(plain, mapped, sizeof plain) == 0);
  ounce_app_close(session);
  MUST(ounce_app_evict(argv[2], 0) == 1 && access(unpacked.file, R_OK) != 0);
  options.cache = NULL;

  options.progress = NULL;
  watch(argv[1], &options);
  options.progress = on_progress;

  /* From memory, and from a part of a file. */
  file = fopen(argv[1], "rb");
  MUST(file != NULL && fseek(file, 0, SEEK_END) == 0);
  length = ftell(file);
  memory = malloc((size_t)length);
  rewind(file);
  MUST(fread(memory, 1, (size_t)length, file) == (size_t)length);
  fclose(file);
  MUST(ounce_app_open_memory(memory, (size_t)length, &options, &session) == OUNCE_APP_OK);
  run_it(session, read);
  MUST(memcmp(plain, read, sizeof plain) == 0);
  ounce_app_close(session);
  MUST(ounce_app_open_memory(memory, (size_t)length / 2, &options, &session) == OUNCE_APP_BAD_MODEL &&
       session == NULL);
  free(memory);
  descriptor = open(argv[1], O_RDONLY);
  MUST(ounce_app_open_descriptor(descriptor, 0, (uint64_t)length, &options, &session) == OUNCE_APP_OK);
  close(descriptor);
  ounce_app_close(session);

  /* Errors. */
  options.digest = "0000000000000000000000000000000000000000000000000000000000000000";
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_WRONG_DIGEST);
  options.digest = NULL;
  options.requires_ours = 1;
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_NOT_OURS);
  options.requires_ours = 0;
  options.progress = stop_at_once;
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_CANCELLED);
  options.progress = NULL;
  options.library = "/no/library/here.so";
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_NO_RUNTIME);
  MUST(ounce_app_open("no such model", NULL, &session) == OUNCE_APP_IO);
  MUST(ounce_app_open(NULL, NULL, &session) == OUNCE_APP_USAGE);
  options.size = 0;
  MUST(ounce_app_open(argv[1], &options, &session) == OUNCE_APP_USAGE);
  MUST(ounce_app_share_threads(2) == OUNCE_APP_THREADS_TAKEN);
  ounce_app_close(NULL);
  ounce_app_call_free(NULL);
  return 0;
}
