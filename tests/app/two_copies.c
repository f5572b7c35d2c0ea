/* Loads two copies of libounce_app.so in one process, as two frameworks of an app may. They share ONNX Runtime and its one
 * environment, run models at the same time in several threads, and end cleanly.
 *
 *   app_two_copies LIBOUNCE_APP MODEL ONNXRUNTIME
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ounce/app.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct copy {
  void* handle;
  int (*open)(const char*, const ounce_app_options*, ounce_app_session**);
  void (*close)(ounce_app_session*);
  int (*call_new)(const ounce_app_session*, const ounce_app_call_options*, ounce_app_call**);
  void (*call_free)(ounce_app_call*);
  int (*run)(ounce_app_call*, int64_t);
  int (*output)(const ounce_app_call*, const char*, int, const void**, size_t*);
  const char* (*error)(void);
  const char* model;
  const char* runtime;
  float result[64];
  size_t bytes;
  int failed;
};

static void* symbol(struct copy* copy, const char* name) {
  void* found = dlsym(copy->handle, name);
  if (found == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return found;
}

static void open_copy(struct copy* copy, const char* path) {
  copy->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (copy->handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  *(void**)&copy->open = symbol(copy, "ounce_app_open");
  *(void**)&copy->close = symbol(copy, "ounce_app_close");
  *(void**)&copy->call_new = symbol(copy, "ounce_app_call_new");
  *(void**)&copy->call_free = symbol(copy, "ounce_app_call_free");
  *(void**)&copy->run = symbol(copy, "ounce_app_call_run");
  *(void**)&copy->output = symbol(copy, "ounce_app_call_output");
  *(void**)&copy->error = symbol(copy, "ounce_app_error");
}

static void* work(void* given) {
  struct copy* copy = given;
  int round, i;
  copy->failed = 1;
  for (round = 0; round < 3; ++round) { /* sessions come and go while the other copy works */
    ounce_app_options options = {0};
    ounce_app_session* session = NULL;
    ounce_app_call* call = NULL;
    const void* values = NULL;
    options.size = sizeof options;
    options.library = copy->runtime;
    if (copy->open(copy->model, &options, &session) != OUNCE_APP_OK ||
        copy->call_new(session, NULL, &call) != OUNCE_APP_OK) {
      fprintf(stderr, "%s\n", copy->error());
      return NULL;
    }
    for (i = 0; i < 30; ++i) {
      if (copy->run(call, 10000000000LL) != OUNCE_APP_OK) return NULL;
    }
    if (copy->output(call, NULL, OUNCE_APP_FLOAT32, &values, &copy->bytes) != OUNCE_APP_OK) return NULL;
    if (copy->bytes > sizeof copy->result) copy->bytes = sizeof copy->result;
    memcpy(copy->result, values, copy->bytes);
    copy->call_free(call);
    copy->close(session);
  }
  copy->failed = 0;
  return NULL;
}

int main(int argc, char** argv) {
  static struct copy copies[4]; /* two threads of each */
  char other[] = "/tmp/libounce_app_XXXXXX";
  char command[8192];
  pthread_t threads[4];
  int i;
  if (argc != 4) return 2;
  close(mkstemp(other));
  snprintf(command, sizeof command, "cp '%s' '%s'", argv[1], other);
  if (system(command) != 0) return 2;
  for (i = 0; i < 4; ++i) {
    open_copy(&copies[i], i % 2 == 0 ? argv[1] : other);
    copies[i].model = argv[2];
    copies[i].runtime = argv[3];
  }
  unlink(other);
  if (copies[0].open == copies[1].open) {
    fprintf(stderr, "these are not two copies\n");
    return 1;
  }
  for (i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, &copies[i]);
  for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < 4; ++i) {
    if (copies[i].failed || copies[i].bytes == 0 ||
        memcmp(copies[i].result, copies[0].result, copies[0].bytes) != 0) {
      fprintf(stderr, "copy %d has other results\n", i);
      return 1;
    }
  }
  return 0;
}
