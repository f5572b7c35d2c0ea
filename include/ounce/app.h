/* A model in an app, for every language that can call C.
 *
 *   ounce_app_session* session;
 *   ounce_app_call* call;
 *   void* pixels;
 *   const void* logits;
 *   size_t bytes;
 *   if (ounce_app_open("model.w8.onnx", NULL, &session) != OUNCE_APP_OK) die(ounce_app_error());
 *   ounce_app_call_new(session, NULL, &call);
 *   ounce_app_call_input(call, "pixel_values", OUNCE_APP_FLOAT32, &pixels, &bytes);
 *   …                                        fill them
 *   ounce_app_call_run(call, -1);
 *   ounce_app_call_output(call, "logits", OUNCE_APP_FLOAT32, &logits, &bytes);
 *   ounce_app_call_free(call);
 *   ounce_app_close(session);
 *
 * This is include/ounce/app/session.h, unpack.h and shadow.h in C; what is said there holds here. Functions
 * that give an int give a status. Handles are freed in any order, and NULL may be freed. A session may be
 * used by several threads at once, a call by one at a time but for ounce_app_call_cancel(). All text is UTF-8
 * and ends with a zero.
 *
 * A struct begins with its size, so that fields can be added at its end: set it, and all that you do not use
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

/* include/ounce/app/status.h says what each means. */
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
  size_t size;         /* sizeof(ounce_app_options) */
  const char* library; /* of the model's runtime: a path, or a version that is installed; NULL: the newest */
  int threads;         /* 0: one; -1: one for each core */
  int shares_threads;  /* takes those of ounce_app_share_threads() */
  const char* cache;   /* a folder to unpack into; NULL: the model is loaded as it is */
  int requires_ours;   /* checks; each has its status */
  int requires_contract;
  /* SHA-256 of the model with its external data, 64 digits: `sha256` of `ounce unpack --json`. Its 32 digits
   * `digest` are taken, too, and are not for security. */
  const char* digest;
  const char* source;               /* 32 digits */
  int ignores_runtime, ignores_cpu; /* what the model says about them */
  const char* const* config;        /* entries of the runtime's session options: key, value, …, NULL */
  /* Fills the inputs with the golden sample of the model's contract; anything but 0 gives up. */
  int (*golden)(void* user, ounce_app_call* call);
  /* Stage 0 opens, 1 unpacks, 2 loads, 3 checks; `share` from 0 to 1. Anything but 0 stops. */
  int (*progress)(void* user, int stage, double share);
  void* user;
} ounce_app_options;

typedef struct ounce_app_value {
  const char* name;
  int type;
  const int64_t* shape; /* `rank` numbers; -1: free */
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
  int64_t batch;           /* of a first axis that is free; 0: 1 */
  const char* const* axes; /* names of other free axes … */
  const int64_t* sizes;    /* … and their sizes */
  size_t axes_count;
  int skips_warm_up; /* one run that gives the outputs their memory */
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
  int width, height;        /* as they lie in memory */
  const uint8_t* planes[2]; /* the second: colour differences of NV12 and NV21 */
  size_t strides[2];        /* bytes from one row to the next; 0: without gaps */
  int rotation;             /* degrees to turn it clockwise until it is upright: 0, 90, 180, 270 */
  int is_limited; /* NV12 and NV21 from 16 to 235, as video has it; 0: from 0 to 255, as cameras have it */
} ounce_app_pixels;

typedef struct ounce_app_sound {
  size_t size;
  const int16_t* samples; /* or … */
  const float* floats;    /* … these */
  size_t count;           /* of all channels together */
  int channels;           /* 0: 1 */
  double rate;            /* samples a second; 0: nobody asks */
} ounce_app_sound;

typedef struct ounce_app_unpacked {
  size_t size;
  int is_unpacked, is_new;
  uint64_t bytes;
  char file[4096]; /* in the cache; cut off where it is longer */
  char why_not[512];
} ounce_app_unpacked;

typedef struct ounce_app_shadow ounce_app_shadow;

typedef struct ounce_app_shadow_options {
  size_t size;
  double share;                  /* of the calls; 0: all */
  size_t queue;                  /* calls that may wait; 0: 16 */
  const char* statistics;        /* a file that is kept up to date and taken up again; NULL: none */
  double save_seconds;           /* at most so often; 0: 10 */
  int stays_in_process;          /* the candidate, even where there is a runner */
  double candidate_seconds;      /* that a run of it may take; 0: 5 */
  const ounce_app_options* load; /* of the candidate: library, threads and config count */
  /* Alarms; 0 is what include/ounce/app/shadow.h says, or none. */
  uint64_t min_compared;
  double min_agreement, min_sqnr_db, max_failures, max_latency_ratio;
  void (*on_alarm)(void* user, const char* reasons); /* once, in the thread of the candidate */
  void* user;
  /* The share of calls that the candidate answers at first, and how it grows; 0: none. */
  double canary_first, canary_last, canary_growth;
  uint64_t canary_calls_a_step;
} ounce_app_shadow_options;

typedef struct ounce_app_shadow_figures {
  size_t size;
  uint64_t calls, compared, dropped;
  uint64_t errors, crashes, timeouts, not_finite;
  double agreement, sqnr_db; /* of the worst output; infinite when nothing differs */
  uint64_t canary_calls, canary_fallbacks;
  double canary_share; /* 0: it has stopped, or there is none */
} ounce_app_shadow_figures;

/* OUNCE_APP_ABI_VERSION of the library that is loaded, and its version for people. */
OUNCE_APP_API uint32_t ounce_app_abi_version(void);
OUNCE_APP_API const char* ounce_app_version(void);
/* What the last function of this thread that failed has to say, in one line. */
OUNCE_APP_API const char* ounce_app_error(void);
OUNCE_APP_API const char* ounce_app_status_name(int status);

/* 0, before the first model of the process: installs no handler for SIGBUS. Then a model file or a file in
 * the cache that is truncated while it is in use ends the process. With the handler, loading or running fails
 * with OUNCE_APP_IO; every other SIGBUS goes to the handler that was installed before. */
OUNCE_APP_API void ounce_app_set_file_guard(int is_on);

/* Before the first model of the process; 0: a thread for each core. */
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
/* What they point to belongs to the session. */
OUNCE_APP_API int ounce_app_input(const ounce_app_session* session, size_t index, ounce_app_value* value);
OUNCE_APP_API int ounce_app_output(const ounce_app_session* session, size_t index, ounce_app_value* value);
OUNCE_APP_API int ounce_app_get_facts(const ounce_app_session* session, ounce_app_facts* facts);
/* The text under a key of the model's metadata, cut off at `room`; `bytes` gets its whole length with the
 * zero at its end, or 0 when there is none. `text` may be NULL. */
OUNCE_APP_API int ounce_app_metadata(const ounce_app_session* session, const char* key, char* text,
                                     size_t room, size_t* bytes);

/* The call keeps what it needs of the session. */
OUNCE_APP_API int ounce_app_call_new(const ounce_app_session* session, const ounce_app_call_options* options,
                                     ounce_app_call** call);
OUNCE_APP_API void ounce_app_call_free(ounce_app_call* call);
/* Memory of the call, for the input's values. NULL for a name means the only one. */
OUNCE_APP_API int ounce_app_call_input(ounce_app_call* call, const char* name, int type, void** values,
                                       size_t* bytes);
/* What the last run gave, until the next one. */
OUNCE_APP_API int ounce_app_call_output(const ounce_app_call* call, const char* name, int type,
                                        const void** values, size_t* bytes);
OUNCE_APP_API int ounce_app_call_input_shape(const ounce_app_call* call, const char* name,
                                             const int64_t** shape, size_t* rank);
OUNCE_APP_API int ounce_app_call_output_shape(const ounce_app_call* call, const char* name,
                                              const int64_t** shape, size_t* rank);
/* By the model's contract, into a row of the batch; NULL for a name means the only input of that kind. */
OUNCE_APP_API int ounce_app_call_set_image(ounce_app_call* call, const char* input, int64_t row,
                                           const ounce_app_pixels* pixels);
OUNCE_APP_API int ounce_app_call_set_sound(ounce_app_call* call, const char* input, int64_t row,
                                           const ounce_app_sound* sound);
/* Nanoseconds that it may take; below 0: as many as it wants. */
OUNCE_APP_API int ounce_app_call_run(ounce_app_call* call, int64_t timeout);
/* From any thread: ends the run that goes on, if one does. */
OUNCE_APP_API void ounce_app_call_cancel(ounce_app_call* call);

/* A candidate beside the session's model, which answers. The session may be closed afterwards. */
OUNCE_APP_API int ounce_app_shadow_new(const ounce_app_session* primary, const char* candidate,
                                       const ounce_app_shadow_options* options, ounce_app_shadow** shadow);
OUNCE_APP_API void ounce_app_shadow_free(ounce_app_shadow* shadow); /* what waits is dropped */
/* A call like any other; its calls may outlive the shadow. */
OUNCE_APP_API int ounce_app_shadow_call_new(ounce_app_shadow* shadow, const ounce_app_call_options* options,
                                            ounce_app_call** call);
/* Did the candidate answer the last run? */
OUNCE_APP_API int ounce_app_call_was_canary(const ounce_app_call* call);
OUNCE_APP_API int ounce_app_shadow_get_figures(const ounce_app_shadow* shadow,
                                               ounce_app_shadow_figures* figures);
/* Until all that waited has been compared, and is saved; OUNCE_APP_TIMEOUT when that takes longer. */
OUNCE_APP_API int ounce_app_shadow_flush(ounce_app_shadow* shadow, int64_t timeout);

/* Ahead of time what `cache` among the options does. Of the options, library, config, progress and user
 * count. */
OUNCE_APP_API int ounce_app_unpack(const char* model, const char* cache, const ounce_app_options* options,
                                   ounce_app_unpacked* unpacked);
/* Removes what was used longest ago until the rest takes no more than this; gives how many files went. */
OUNCE_APP_API size_t ounce_app_evict(const char* cache, uint64_t max_bytes);

#ifdef __cplusplus
}
#endif

/* NOLINTEND */

#endif
