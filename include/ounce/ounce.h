/* Ounce for every language that can call C.
 *
 *   ounce_call* call = ounce_call_new("quantize");
 *   ounce_call_options(call, "{\"model\": \"model.onnx\", \"to\": \"w8\", \"output\": \"small.onnx\"}");
 *   if (ounce_call_run(call) == 0) puts(ounce_call_document(call));
 *   else if (ounce_call_error(call)) fprintf(stderr, "%s\n", ounce_call_error(call)->message);
 *   ounce_call_free(call);
 *
 * A call is one run of one verb. Its options are those of the command line under the same names (with dashes
 * or underscores), and its document is what `ounce VERB --json` prints: both are described in
 * docs/reference/interface.md and by ounce_call_help(). The library prints nothing and never ends the
 * process.
 * Sentences in documents and messages name options in backticks, as they are named here: `max_drop`,
 * `to="w8"`. Calls are independent: several may run at once, each in a thread of its own.
 *
 * Signals. The first call that reads a file installs a handler for SIGBUS, so that a file that is truncated
 * while it is read fails the call with OUNCE_IO and does not end the process. The handler passes every other
 * SIGBUS on to the one that was installed before. ounce_set_file_guard(0) does without it. The library
 * installs no other handler. A process with a limit on the size of files (RLIMIT_FSIZE) has to ignore
 * SIGXFSZ, or that signal ends it.
 *
 * All text is UTF-8 and ends with a zero. What a function returns belongs to the call and stays until the
 * next function of the same call that is not const, or its end. Functions of one call come from one thread at
 * a time, except for ounce_call_stop(). Functions are added to this interface; none is changed or taken away
 * while OUNCE_ABI_VERSION stays the same.
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

/* What ounce_call_run() gives, and the functions that take something: the exit codes of the command line. */
enum {
  OUNCE_OK = 0,
  OUNCE_GATE_FAILED = 1, /* a result, no error: verify, contract check, tune; prove: refuted */
  OUNCE_BAD_REQUEST = 2, /* an option that makes no sense, or a file that is not what it should be */
  OUNCE_UNSUPPORTED = 3, /* of check a result; otherwise: nothing can be done about this model */
  OUNCE_IO = 4,          /* the system refused: no such file, a full disk, no memory */
  OUNCE_UNPROVED = 5,    /* a result, no error: prove could not check all that a model states */
  OUNCE_INTERNAL = 70,   /* a bug of ours */
  OUNCE_STOPPED = 130    /* by ounce_call_stop(), or by a callback */
};

typedef struct ounce_call ounce_call;

typedef struct ounce_error {
  int code;            /* one of those above */
  const char* message; /* for a person: what is wrong, where, and what to do; a line for each model */
} ounce_error;

/* An array in the caller's memory, row after row without gaps. It is not copied: the memory must stay as it
 * is until the call is freed. */
typedef struct ounce_array {
  const char* name;     /* of the model's input, or of the labels */
  const char* type;     /* "float32" "float64" "float16" "bfloat16" "int8" … "uint64" "bool" */
  const int64_t* shape; /* `rank` numbers */
  size_t rank;
  const void* values;
} ounce_array;

/* 0, before the first call: installs no handler for SIGBUS. Then a file that is truncated while it is read
 * ends the process. */
OUNCE_API void ounce_set_file_guard(int is_on);

/* OUNCE_ABI_VERSION of the library that is loaded, and its version for people. */
OUNCE_API uint32_t ounce_abi_version(void);
OUNCE_API const char* ounce_version(void);
/* The verbs as a JSON list: "quantize", …, "contract check". */
OUNCE_API const char* ounce_verbs(void);

/* NULL only when memory has run out. A verb that does not exist is an error of the functions below. */
OUNCE_API ounce_call* ounce_call_new(const char* verb);
OUNCE_API void ounce_call_free(ounce_call* call); /* NULL is fine; not while it runs */

/* The options of the verb as JSON: {"verb", "help", "options": [{"name", "kind", "help", …}]}; NULL when
 * there is no such verb. */
OUNCE_API const char* ounce_call_help(ounce_call* call);

/* Adds options: {"to": "int8", "exclude": ["head"], "carry": {"h_in": "h_out"}, "dry_run": true}. null says
 * nothing. Names are checked when the call runs. */
OUNCE_API int ounce_call_options(ounce_call* call, const char* json);

/* A model that is in memory, for the argument of this name ("model", "reference", "candidate"). Its bytes are
 * put into a temporary file until the call is freed. Where the verb writes a model and no "output" is among
 * the options, ounce_call_output() gives what it wrote. */
OUNCE_API int ounce_call_model(ounce_call* call, const char* argument, const void* bytes, size_t size);

/* Data that is in memory instead of "data": an array of all samples, the first axis counts them (one without
 * axes is the same for all). Or sample by sample, where their shapes differ: arrays without the axis that
 * counts samples or, with `has_batch_axis`, whole inputs of the model. Labels are an array like any other,
 * and the option "labels" names them. Names and shapes are copied, values are not. */
OUNCE_API int ounce_call_array(ounce_call* call, const ounce_array* array);
OUNCE_API int ounce_call_sample(ounce_call* call, const ounce_array* arrays, size_t count,
                                int has_batch_axis);

/* A quality of the caller's own, instead of "metric-command". `folder` holds original.npz and candidate.npz
 * (outputs by name) and, if there are labels, labels.npz. It puts into `answer` what a command would print,
 * 0.93 or {"name": 0.93, "lower_is_better": true}, and returns 0; or it says there why it failed and returns
 * something else. `size` is the room in `answer`. It is called in the thread of ounce_call_run() or in one of
 * the library's, never in two at once. */
typedef int (*ounce_metric)(void* user, const char* folder, char* answer, size_t size);
OUNCE_API int ounce_call_metric(ounce_call* call, ounce_metric metric, void* user);

/* Called about ten times a second, in a thread of the library's: what is being worked on, the stage, and how
 * much of it is done (`total` 0: nobody knows). Anything but 0 stops the call. */
typedef int (*ounce_progress)(void* user, const char* what, const char* stage, uint64_t done, uint64_t total);
OUNCE_API int ounce_call_on_progress(ounce_call* call, ounce_progress progress, void* user);

/* Runs it, once. Gives one of the codes above; ounce_call_error() says what went wrong, if anything did. */
OUNCE_API int ounce_call_run(ounce_call* call);
/* From any thread, while it runs or before: it ends soon, with nothing left behind. */
OUNCE_API void ounce_call_stop(ounce_call* call);

/* What `--json` prints, of all models that went well too when one did not; NULL when there is none. */
OUNCE_API const char* ounce_call_document(const ounce_call* call);
/* What the command line prints for people. */
OUNCE_API const char* ounce_call_text(const ounce_call* call);
/* NULL when nothing went wrong: a gate that failed is a result, and so is a model that is not proved. */
OUNCE_API const ounce_error* ounce_call_error(const ounce_call* call);
/* The model that was written, if it went nowhere else; NULL otherwise. */
OUNCE_API const void* ounce_call_output(const ounce_call* call, size_t* size);

#ifdef __cplusplus
}
#endif

/* NOLINTEND */

#endif
