/* Loads and runs a model in an app, for all languages that can call C.
 *
 *   ounce_app_session* session;
 *   ounce_app_call* call;
 *   void* pixels;
 *   const void* logits;
 *   size_t bytes;
 *   if (ounce_app_open("model.w8.onnx", NULL, &session) != OUNCE_APP_OK) die(ounce_app_error());
 *   ounce_app_call_new(session, NULL, &call);
 *   ounce_app_call_input(call, "pixel_values", OUNCE_APP_FLOAT32, &pixels, &bytes);
 *   fill(pixels, bytes);
 *   ounce_app_call_run(call, -1);
 *   ounce_app_call_output(call, "logits", OUNCE_APP_FLOAT32, &logits, &bytes);
 *   ounce_app_call_free(call);
 *   ounce_app_close(session);
 *
 * This is the C version of include/ounce/app.hpp, whose documentation applies.
 * Functions that return an int return a status. Handles may be freed in any order, and NULL may be freed.
 * Several threads may use a session at once; only one thread at a time may use a call, except for
 * ounce_app_call_cancel(). All text is UTF-8 and zero-terminated.
 *
 * Each struct starts with its size, so that fields can be added at its end. Set `size`, and set unused fields
 * to 0.
 */
#ifndef OUNCE_APP_H
#define OUNCE_APP_H

/* NOLINTBEGIN: C, and named as C libraries are. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define OUNCE_APP_API __attribute__((visibility("default")))
#else
#define OUNCE_APP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define OUNCE_APP_ABI_VERSION 1

/* include/ounce/app.hpp describes each status. */
enum {
  OUNCE_APP_OK = 0,
  OUNCE_APP_USAGE = 1,
  OUNCE_APP_IO = 2,
  OUNCE_APP_BAD_MODEL = 3,
  OUNCE_APP_UNSUPPORTED = 4,
  OUNCE_APP_MEMORY = 5,
  OUNCE_APP_NO_RUNTIME = 6,
  OUNCE_APP_THREADS_TAKEN = 7,
  OUNCE_APP_RUNTIME_TOO_OLD = 20,
  OUNCE_APP_OTHER_CPU = 21,
  OUNCE_APP_NOT_OURS = 22,
  OUNCE_APP_WRONG_DIGEST = 23,
  OUNCE_APP_WRONG_SOURCE = 24,
  OUNCE_APP_NO_CONTRACT = 25,
  OUNCE_APP_CONTRACT_MISMATCH = 26,
  OUNCE_APP_GOLDEN_MISMATCH = 27,
  OUNCE_APP_CANCELLED = 40,
  OUNCE_APP_TIMEOUT = 41,
  OUNCE_APP_RUN_FAILED = 42,
  OUNCE_APP_INTERNAL = 70
};

/* Types of values; the numbers are those of ONNX. */
enum {
  OUNCE_APP_ANY = 0,
  OUNCE_APP_FLOAT32 = 1,
  OUNCE_APP_UINT8 = 2,
  OUNCE_APP_INT8 = 3,
  OUNCE_APP_UINT16 = 4,
  OUNCE_APP_INT16 = 5,
  OUNCE_APP_INT32 = 6,
  OUNCE_APP_INT64 = 7,
  OUNCE_APP_BOOL = 9,
  OUNCE_APP_FLOAT16 = 10,
  OUNCE_APP_FLOAT64 = 11,
  OUNCE_APP_UINT32 = 12,
  OUNCE_APP_UINT64 = 13,
  OUNCE_APP_BFLOAT16 = 16
};

typedef struct ounce_app_session ounce_app_session;
typedef struct ounce_app_call ounce_app_call;

typedef struct ounce_app_options {
  size_t size;           /* sizeof(ounce_app_options) */
  const char* library;   /* the runtime: a path, or an installed version; NULL: the newest */
  int threads;           /* 0: one; -1: one per core */
  int shares_threads;    /* use the threads of ounce_app_share_threads() */
  const char* cache;     /* folder for the precompiled model; NULL: load the model without precompiling it */
  int requires_ours;     /* require a model that Ounce wrote */
  int requires_contract; /* require preprocessing metadata */
  /* Required SHA-256 of the model with its external data, 64 digits (`sha256` in the JSON result of unpack).
   * The 32 digits of `digest` are accepted, too, but are not secure. */
  const char* digest;
  const char* source;               /* required source_digest, 32 digits */
  int ignores_runtime, ignores_cpu; /* skip the model's requirements of the runtime and the CPU */
  const char* const* config;        /* session options of the runtime: key, value, …, NULL */
  /* Fills the inputs with the golden sample of the preprocessing metadata; a value other than 0 aborts. */
  int (*golden)(void* user, ounce_app_call* call);
  /* Stage 0 opens, 1 precompiles, 2 loads, 3 checks; `share` from 0 to 1. A value other than 0 stops. */
  int (*progress)(void* user, int stage, double share);
  void* user;
} ounce_app_options;

typedef struct ounce_app_value {
  const char* name;
  int type;
  const int64_t* shape; /* `rank` numbers; -1: a dynamic axis */
  size_t rank;
} ounce_app_value;

typedef struct ounce_app_facts {
  size_t size;
  const char* runtime_version;
  int is_unpacked;
  const char* why_not_unpacked;
  double load_seconds;
} ounce_app_facts;

typedef struct ounce_app_call_options {
  size_t size;
  int64_t batch;           /* length of a dynamic first axis; 0: 1 */
  const char* const* axes; /* names of other dynamic axes */
  const int64_t* sizes;    /* lengths of these axes */
  size_t axes_count;
  int skips_warm_up; /* skip the warm-up run, which allocates the outputs */
} ounce_app_call_options;

/* Layouts of pixels. */
enum {
  OUNCE_APP_RGBA = 0,
  OUNCE_APP_BGRA = 1,
  OUNCE_APP_RGB = 2,
  OUNCE_APP_BGR = 3,
  OUNCE_APP_GREY = 4,
  OUNCE_APP_NV12 = 5,
  OUNCE_APP_NV21 = 6
};

typedef struct ounce_app_pixels {
  size_t size;
  int format;
  int width, height;        /* in pixels, before the rotation */
  const uint8_t* planes[2]; /* the second plane: chroma of NV12 and NV21 */
  size_t strides[2];        /* bytes from one row to the next; 0: without gaps */
  int rotation;             /* clockwise degrees until the image is upright: 0, 90, 180, 270 */
  int is_limited;           /* NV12 and NV21: values from 16 to 235 (video); 0: from 0 to 255 (cameras) */
} ounce_app_pixels;

typedef struct ounce_app_sound {
  size_t size;
  const int16_t* samples; /* 16-bit samples; NULL: see `floats` */
  const float* floats;    /* float samples; NULL: see `samples` */
  size_t count;           /* samples of all channels together */
  int channels;           /* 0: 1 */
  double rate;            /* sampling rate in Hz; 0: not checked */
} ounce_app_sound;

typedef struct ounce_app_unpacked {
  size_t size;
  int is_unpacked, is_new;
  uint64_t bytes;
  char file[4096]; /* path in the cache, truncated if it is longer */
  char why_not[512];
} ounce_app_unpacked;

typedef struct ounce_app_shadow ounce_app_shadow;

typedef struct ounce_app_shadow_options {
  size_t size;
  double share;             /* share of calls to compare; 0: all */
  size_t queue;             /* length of the queue in calls; 0: 16 */
  const char* statistics;   /* file for the statistics, updated and continued by later runs; NULL: none */
  double save_seconds;      /* shortest interval between updates of the file; 0: 10 */
  int stays_in_process;     /* run the candidate in this process, even if there is a runner */
  double candidate_seconds; /* time limit for a run of the candidate; 0: 5 */
  const ounce_app_options* load; /* library, threads and config for the candidate; other fields are ignored */
  /* Alarm limits; 0: the defaults of include/ounce/app.hpp, or no limit. */
  uint64_t min_compared;
  double min_agreement, min_sqnr_db, max_failures, max_latency_ratio;
  void (*on_alarm)(void* user, const char* reasons); /* called once, in the thread of the candidate */
  void* user;
  /* Canary: the first share of calls that the candidate serves, and its growth; 0: no canary. */
  double canary_first, canary_last, canary_growth;
  uint64_t canary_calls_a_step;
} ounce_app_shadow_options;

typedef struct ounce_app_shadow_figures {
  size_t size;
  uint64_t calls, compared, dropped;
  uint64_t errors, crashes, timeouts, not_finite;
  double agreement, sqnr_db; /* of the worst output; sqnr_db is infinite if identical */
  uint64_t canary_calls, canary_fallbacks;
  double canary_share; /* 0: stopped, or no canary */
} ounce_app_shadow_figures;

/* Return OUNCE_APP_ABI_VERSION of the loaded library, and its version, such as "0.1.0". */
OUNCE_APP_API uint32_t ounce_app_abi_version(void);
OUNCE_APP_API const char* ounce_app_version(void);
/* Returns the error message of the last failed function of this thread, in one line. */
OUNCE_APP_API const char* ounce_app_error(void);
OUNCE_APP_API const char* ounce_app_status_name(int status);

/* Enables (default) or disables the SIGBUS handler; call it before the first model of the process. With the
 * handler, loading or running a truncated file fails with OUNCE_APP_IO, and every other SIGBUS goes to the
 * previously installed handler. Without it, a file that is truncated while it is in use ends the process. */
OUNCE_APP_API void ounce_app_set_file_guard(int is_on);

/* Creates a thread pool that sessions share; call it before the first model of the process. 0: one per core.
 */
OUNCE_APP_API int ounce_app_share_threads(unsigned threads);

OUNCE_APP_API int ounce_app_open(const char* model, const ounce_app_options* options,
                                 ounce_app_session** session);
OUNCE_APP_API int ounce_app_open_memory(const void* model, size_t bytes, const ounce_app_options* options,
                                        ounce_app_session** session);
OUNCE_APP_API int ounce_app_open_descriptor(int descriptor, uint64_t offset, uint64_t length,
                                            const ounce_app_options* options, ounce_app_session** session);
OUNCE_APP_API void ounce_app_close(ounce_app_session* session);

OUNCE_APP_API size_t ounce_app_input_count(const ounce_app_session* session);
OUNCE_APP_API size_t ounce_app_output_count(const ounce_app_session* session);
/* Describe an input or output. The pointers belong to the session. */
OUNCE_APP_API int ounce_app_input(const ounce_app_session* session, size_t index, ounce_app_value* value);
OUNCE_APP_API int ounce_app_output(const ounce_app_session* session, size_t index, ounce_app_value* value);
OUNCE_APP_API int ounce_app_get_facts(const ounce_app_session* session, ounce_app_facts* facts);
/* Copies the metadata text of a key to `text`, truncated to `room` bytes. `bytes` gets the full length
 * including the terminating zero, or 0 if there is no such key. `text` may be NULL. */
OUNCE_APP_API int ounce_app_metadata(const ounce_app_session* session, const char* key, char* text,
                                     size_t room, size_t* bytes);

/* Creates a call. It may outlive the session. */
OUNCE_APP_API int ounce_app_call_new(const ounce_app_session* session, const ounce_app_call_options* options,
                                     ounce_app_call** call);
OUNCE_APP_API void ounce_app_call_free(ounce_app_call* call);
/* Returns the memory of the call for the values of an input. A NULL name means the only input. */
OUNCE_APP_API int ounce_app_call_input(ounce_app_call* call, const char* name, int type, void** values,
                                       size_t* bytes);
/* Returns the values of an output of the last run, valid until the next run. */
OUNCE_APP_API int ounce_app_call_output(const ounce_app_call* call, const char* name, int type,
                                        const void** values, size_t* bytes);
OUNCE_APP_API int ounce_app_call_input_shape(const ounce_app_call* call, const char* name,
                                             const int64_t** shape, size_t* rank);
OUNCE_APP_API int ounce_app_call_output_shape(const ounce_app_call* call, const char* name,
                                              const int64_t** shape, size_t* rank);
/* Preprocess an image or audio by the metadata of the model into a row of the batch. A NULL name means the
 * only input of that kind. */
OUNCE_APP_API int ounce_app_call_set_image(ounce_app_call* call, const char* input, int64_t row,
                                           const ounce_app_pixels* pixels);
OUNCE_APP_API int ounce_app_call_set_sound(ounce_app_call* call, const char* input, int64_t row,
                                           const ounce_app_sound* sound);
/* Runs the model. `timeout` is in nanoseconds; a negative value means no limit. */
OUNCE_APP_API int ounce_app_call_run(ounce_app_call* call, int64_t timeout);
/* Cancels the current run, if there is one. May be called from any thread. */
OUNCE_APP_API void ounce_app_call_cancel(ounce_app_call* call);

/* Starts a shadow deployment: `candidate` is compared with the model of the session, which serves all calls.
 * The session may be closed afterwards. */
OUNCE_APP_API int ounce_app_shadow_new(const ounce_app_session* primary, const char* candidate,
                                       const ounce_app_shadow_options* options, ounce_app_shadow** shadow);
/* Ends the shadow deployment; drops calls in the queue. */
OUNCE_APP_API void ounce_app_shadow_free(ounce_app_shadow* shadow);
/* Creates a call, used like any other call. It may outlive the shadow. */
OUNCE_APP_API int ounce_app_shadow_call_new(ounce_app_shadow* shadow, const ounce_app_call_options* options,
                                            ounce_app_call** call);
/* Returns 1 if the candidate served the last run, else 0. */
OUNCE_APP_API int ounce_app_call_was_canary(const ounce_app_call* call);
OUNCE_APP_API int ounce_app_shadow_get_figures(const ounce_app_shadow* shadow,
                                               ounce_app_shadow_figures* figures);
/* Waits until all queued calls are compared and saved; returns OUNCE_APP_TIMEOUT after `timeout` nanoseconds.
 */
OUNCE_APP_API int ounce_app_shadow_flush(ounce_app_shadow* shadow, int64_t timeout);

/* Precompiles a model into a cache folder ahead of time. Uses only library, config, progress and user of the
 * options. */
OUNCE_APP_API int ounce_app_unpack(const char* model, const char* cache, const ounce_app_options* options,
                                   ounce_app_unpacked* unpacked);
/* Removes the least recently used files until the cache has at most `max_bytes`; returns the number of
 * removed files. */
OUNCE_APP_API size_t ounce_app_evict(const char* cache, uint64_t max_bytes);

#ifdef __cplusplus
}
#endif

/* NOLINTEND */

#endif
