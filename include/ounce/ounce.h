/* The C API of Ounce, for all languages that can call C.
 *
 *   ounce_call* call = ounce_call_new("quantize");
 *   ounce_call_options(call, "{\"model\": \"model.onnx\", \"to\": \"w8\", \"output\": \"small.onnx\"}");
 *   if (ounce_call_run(call) == 0) puts(ounce_call_document(call));
 *   else if (ounce_call_error(call)) fprintf(stderr, "%s\n", ounce_call_error(call)->message);
 *   ounce_call_free(call);
 *
 * A call is one run of one verb. Its options have the names of the command line, with dashes or underscores;
 * its document is the JSON document of the command line. docs/reference/interface.md and ounce_call_help()
 * describe both. The library prints nothing and never ends the process. Sentences in documents and messages
 * name options in backticks: `max_drop`, `to="w8"`. Calls are independent: several may run in parallel, one
 * per thread.
 *
 * Signals. The first call that reads a file installs a handler for SIGBUS, so that a file that is truncated
 * while it is read fails the call with OUNCE_IO and does not end the process. The handler forwards every
 * other SIGBUS to the previously installed handler. ounce_set_file_guard(0) disables it. The library installs
 * no other handler. A process with a limit of file sizes (RLIMIT_FSIZE) must ignore SIGXFSZ, or that signal
 * ends it.
 *
 * All text is UTF-8 and zero-terminated. Returned pointers belong to the call and are valid until the next
 * non-const function of the same call, or until it is freed. Use a call from one thread at a time, except for
 * ounce_call_stop(). While OUNCE_ABI_VERSION is the same, functions may be added, but none is changed or
 * removed.
 */
#ifndef OUNCE_OUNCE_H
#define OUNCE_OUNCE_H

/* NOLINTBEGIN: C, and named as C libraries are. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define OUNCE_API __attribute__((visibility("default")))
#else
#define OUNCE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define OUNCE_ABI_VERSION 1

/* Status codes of ounce_call_run() and of the functions that set something. They are also the exit codes of
 * the program. */
enum {
  OUNCE_OK = 0,
  OUNCE_GATE_FAILED = 1, /* a result, not an error: an exceeded threshold; with prove: refuted */
  OUNCE_BAD_REQUEST = 2, /* an invalid option, or an invalid file */
  OUNCE_UNSUPPORTED = 3, /* not supported for this model; with check a result, not an error */
  OUNCE_IO = 4,          /* I/O error: a missing file, a full disk, no memory */
  OUNCE_UNPROVED = 5,    /* a result, not an error: prove could not check all claims of the record */
  OUNCE_INTERNAL = 70,   /* a bug in Ounce */
  OUNCE_STOPPED = 130    /* by ounce_call_stop(), or by a callback */
};

typedef struct ounce_call ounce_call;

typedef struct ounce_error {
  int code;            /* one of those above */
  const char* message; /* location, problem and remedy; one line per model */
} ounce_error;

/* An array in the caller's memory, in row-major order without gaps. It is not copied: the memory must stay
 * valid and unchanged until the call is freed. */
typedef struct ounce_array {
  const char* name;     /* of the model input, or of the labels */
  const char* type;     /* "float32" "float64" "float16" "bfloat16" "int8" … "uint64" "bool" */
  const int64_t* shape; /* `rank` numbers */
  size_t rank;
  const void* values;
} ounce_array;

/* Enables (default) or disables the SIGBUS handler; call it before the first call. Without the handler, a
 * file that is truncated while it is read ends the process. */
OUNCE_API void ounce_set_file_guard(int is_on);

/* Return OUNCE_ABI_VERSION of the loaded library, and its version, such as "0.1.0". */
OUNCE_API uint32_t ounce_abi_version(void);
OUNCE_API const char* ounce_version(void);
/* Returns the verbs as a JSON list: "quantize", …, "contract check". */
OUNCE_API const char* ounce_verbs(void);

/* Creates a call. Returns NULL only if memory is exhausted. An unknown verb is an error of the functions
 * below. */
OUNCE_API ounce_call* ounce_call_new(const char* verb);
/* Frees a call that is not running; NULL is allowed. */
OUNCE_API void ounce_call_free(ounce_call* call);

/* Returns the options of the verb as JSON: {"verb", "help", "options": [{"name", "kind", "help", …}]}; NULL
 * for an unknown verb. */
OUNCE_API const char* ounce_call_help(ounce_call* call);

/* Adds options: {"to": "int8", "exclude": ["head"], "carry": {"h_in": "h_out"}, "dry_run": true}. null leaves
 * an option unset. Names are checked when the call runs. Returns a status code. */
OUNCE_API int ounce_call_options(ounce_call* call, const char* json);

/* Sets a model in memory for the argument of this name ("model", "reference", "candidate"). Its bytes are
 * written to a temporary file until the call is freed. If the verb writes a model and the option "output" is
 * unset, ounce_call_output() returns the written model. Returns a status code. */
OUNCE_API int ounce_call_model(ounce_call* call, const char* argument, const void* bytes, size_t size);

/* Add data in memory, which replaces the option "data". ounce_call_array() adds one input of all samples: the
 * first axis counts samples, and an array without axes is constant. ounce_call_sample() adds all inputs of
 * one sample, if shapes differ: arrays without the sample axis or, with `has_batch_axis`, complete model
 * inputs. Labels are an array that the option "labels" names. Names and shapes are copied, values are not.
 * Return a status code. */
OUNCE_API int ounce_call_array(ounce_call* call, const ounce_array* array);
OUNCE_API int ounce_call_sample(ounce_call* call, const ounce_array* arrays, size_t count,
                                int has_batch_axis);

/* A custom metric, which replaces the option "metric-command". `folder` has original.npz and candidate.npz
 * (outputs by name) and, if there are labels, labels.npz. The function writes the quality of the candidate to
 * `answer`, as 0.93 or {"name": 0.93, "lower_is_better": true}, and returns 0; on failure it writes an error
 * message to `answer` and returns another value. `size` is the size of `answer` in bytes. It is called in the
 * thread of ounce_call_run() or in a thread of the library, never in two at once. */
typedef int (*ounce_metric)(void* user, const char* folder, char* answer, size_t size);
OUNCE_API int ounce_call_metric(ounce_call* call, ounce_metric metric, void* user);

/* Called about ten times a second in a thread of the library, with the model or task, the stage, and its
 * progress
 * (`total` 0: unknown). A return value other than 0 stops the call. */
typedef int (*ounce_progress)(void* user, const char* what, const char* stage, uint64_t done, uint64_t total);
OUNCE_API int ounce_call_on_progress(ounce_call* call, ounce_progress progress, void* user);

/* Runs the call, once. Returns a status code; see ounce_call_error() for details. */
OUNCE_API int ounce_call_run(ounce_call* call);
/* Stops the call soon, without leaving unfinished files. May be called from any thread, also before the run.
 */
OUNCE_API void ounce_call_stop(ounce_call* call);

/* Returns the result as a JSON document, including the successful models if another one failed; NULL if there
 * is none. */
OUNCE_API const char* ounce_call_document(const ounce_call* call);
/* Returns the result as text. */
OUNCE_API const char* ounce_call_text(const ounce_call* call);
/* Returns the error; NULL if there was none. An exceeded threshold and an unproved model are no errors. */
OUNCE_API const ounce_error* ounce_call_error(const ounce_call* call);
/* Returns the bytes of the written model if no "output" was given; NULL otherwise. */
OUNCE_API const void* ounce_call_output(const ounce_call* call, size_t* size);

#ifdef __cplusplus
}
#endif

/* NOLINTEND */

#endif
