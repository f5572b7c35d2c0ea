/* Classifies raw camera frames, read from files, with a model that has preprocessing metadata.
 *
 *   frames MODEL WIDTH HEIGHT rgba|bgra|nv12|nv21 ROTATION FRAME…
 *
 * Prints the best class of each frame, and the duration. The model is precompiled into ./cache once.
 */
#include <ounce/app.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void must(int status) {
  if (status == OUNCE_APP_OK) return;
  fprintf(stderr, "%s (%s)\n", ounce_app_error(), ounce_app_status_name(status));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int format_named(const char* name) {
  if (strcmp(name, "rgba") == 0) return OUNCE_APP_RGBA;
  if (strcmp(name, "bgra") == 0) return OUNCE_APP_BGRA;
  if (strcmp(name, "nv12") == 0) return OUNCE_APP_NV12;
  if (strcmp(name, "nv21") == 0) return OUNCE_APP_NV21;
  fprintf(stderr, "no format '%s'\n", name);
  exit(2);
}

int main(int argc, char** argv) {
  ounce_app_options options = {0};
  ounce_app_session* session = NULL;
  ounce_app_call* call = NULL;
  ounce_app_pixels pixels = {0};
  unsigned char* frame;
  size_t bytes, i;
  int number;
  if (argc < 7) {
    fprintf(stderr, "usage: frames MODEL WIDTH HEIGHT rgba|bgra|nv12|nv21 ROTATION FRAME...\n");
    return 2;
  }
  options.size = sizeof options;
  options.cache = "cache";
  must(ounce_app_open(argv[1], &options, &session));
  must(ounce_app_call_new(session, NULL, &call));
  pixels.size = sizeof pixels;
  pixels.width = atoi(argv[2]);
  pixels.height = atoi(argv[3]);
  pixels.format = format_named(argv[4]);
  pixels.rotation = atoi(argv[5]);
  bytes = (size_t)pixels.width * (size_t)pixels.height;
  bytes = pixels.format == OUNCE_APP_RGBA || pixels.format == OUNCE_APP_BGRA ? bytes * 4 : bytes * 3 / 2;
  frame = malloc(bytes);
  if (frame == NULL) return 1;
  pixels.planes[0] = frame;
  pixels.planes[1] = frame + (size_t)pixels.width * (size_t)pixels.height;
  for (number = 6; number < argc; ++number) {
    const void* values = NULL;
    const float* scores;
    double start = now();
    size_t best = 0;
    FILE* file = fopen(argv[number], "rb");
    if (file == NULL || fread(frame, 1, bytes, file) != bytes) {
      fprintf(stderr, "%s: does not have the %zu bytes of a frame\n", argv[number], bytes);
      return 1;
    }
    fclose(file);
    must(ounce_app_call_set_image(call, NULL, 0, &pixels));
    must(ounce_app_call_run(call, -1));
    must(ounce_app_call_output(call, NULL, OUNCE_APP_FLOAT32, &values, &i));
    scores = values;
    for (i /= sizeof(float); i-- > 0;) best = scores[i] > scores[best] ? i : best;
    printf("%s: class %zu\n", argv[number], best);
    fprintf(stderr, "%.2f ms\n", (now() - start) * 1e3);
  }
  free(frame);
  ounce_app_call_free(call);
  ounce_app_close(session);
  return 0;
}
