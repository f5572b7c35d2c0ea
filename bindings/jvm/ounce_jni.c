/* The native side of bindings/jvm/java: a thin JNI wrapper of app.h. */
#include <jni.h>
#include <ounce/app.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE(name) JNICALL Java_ounce_app_Native_##name

static void throw_status(JNIEnv* env, int status, const char* message) {
  jclass kind = (*env)->FindClass(env, "ounce/app/OunceException");
  jmethodID make = kind == NULL ? NULL : (*env)->GetMethodID(env, kind, "<init>", "(ILjava/lang/String;)V");
  jstring text = make == NULL ? NULL : (*env)->NewStringUTF(env, message);
  jobject thrown = text == NULL ? NULL : (*env)->NewObject(env, kind, make, (jint)status, text);
  if (thrown != NULL) (*env)->Throw(env, (jthrowable)thrown);
}

static int failed(JNIEnv* env, int status) {
  if (status == OUNCE_APP_OK) return 0;
  if (!(*env)->ExceptionCheck(env)) throw_status(env, status, ounce_app_error());
  return 1;
}

/* JNI's "modified UTF-8" differs from UTF-8 for zeros and for characters beyond 16 bits, so Java converts the
 * strings. */
static char* utf8(JNIEnv* env, jstring text) {
  jclass kind;
  jmethodID get_bytes;
  jstring charset;
  jbyteArray bytes;
  jsize size;
  char* made;
  if (text == NULL) return NULL;
  kind = (*env)->GetObjectClass(env, text);
  get_bytes = (*env)->GetMethodID(env, kind, "getBytes", "(Ljava/lang/String;)[B");
  charset = (*env)->NewStringUTF(env, "UTF-8");
  if (get_bytes == NULL || charset == NULL) return NULL;
  bytes = (jbyteArray)(*env)->CallObjectMethod(env, text, get_bytes, charset);
  if ((*env)->ExceptionCheck(env) || bytes == NULL) return NULL;
  size = (*env)->GetArrayLength(env, bytes);
  made = malloc((size_t)size + 1);
  if (made == NULL) return NULL;
  (*env)->GetByteArrayRegion(env, bytes, 0, size, (jbyte*)made);
  made[size] = '\0';
  return made;
}

/* LoadOptions.golden during ounce_app_open(), which calls it in the same thread. */
struct golden {
  JNIEnv* env;
  jobject consumer;
};

struct options {
  ounce_app_options c;
  char *library, *cache, *digest, *source;
  struct golden golden;
};

static int fill_golden(void* user, ounce_app_call* call) {
  const struct golden* golden = user;
  JNIEnv* env = golden->env;
  jclass kind = (*env)->FindClass(env, "ounce/app/Call");
  jmethodID lend =
      kind == NULL ? NULL
                   : (*env)->GetStaticMethodID(env, kind, "lend", "(Ljava/util/function/Consumer;J)V");
  if (lend != NULL)
    (*env)->CallStaticVoidMethod(env, kind, lend, golden->consumer, (jlong)(intptr_t)call);
  return (*env)->ExceptionCheck(env) ? 1 : 0; /* the exception passes through ounce_app_open() */
}

static char* text_field(JNIEnv* env, jobject object, jclass kind, const char* name) {
  jfieldID field = (*env)->GetFieldID(env, kind, name, "Ljava/lang/String;");
  return field == NULL ? NULL : utf8(env, (jstring)(*env)->GetObjectField(env, object, field));
}

static jobject consumer_field(JNIEnv* env, jobject object, jclass kind, const char* name) {
  jfieldID field = (*env)->GetFieldID(env, kind, name, "Ljava/util/function/Consumer;");
  return field == NULL ? NULL : (*env)->GetObjectField(env, object, field);
}

static double number_field(JNIEnv* env, jobject object, jclass kind, const char* name) {
  jfieldID field = (*env)->GetFieldID(env, kind, name, "D");
  return field == NULL ? 0 : (*env)->GetDoubleField(env, object, field);
}

static uint64_t count_field(JNIEnv* env, jobject object, jclass kind, const char* name) {
  jfieldID field = (*env)->GetFieldID(env, kind, name, "J");
  const jlong value = field == NULL ? 0 : (*env)->GetLongField(env, object, field);
  return value < 0 ? 0 : (uint64_t)value;
}

static int flag_field(JNIEnv* env, jobject object, jclass kind, const char* name) {
  jfieldID field = (*env)->GetFieldID(env, kind, name, "Z");
  return field != NULL && (*env)->GetBooleanField(env, object, field);
}

static void read_options(JNIEnv* env, jobject given, struct options* options) {
  jclass kind;
  jfieldID threads;
  memset(options, 0, sizeof *options);
  options->c.size = sizeof options->c;
  if (given == NULL) return;
  kind = (*env)->GetObjectClass(env, given);
  threads = (*env)->GetFieldID(env, kind, "threads", "I");
  if (threads == NULL) return;
  options->c.threads = (*env)->GetIntField(env, given, threads);
  options->c.shares_threads = flag_field(env, given, kind, "sharesThreads");
  options->c.requires_ours = flag_field(env, given, kind, "requiresOurs");
  options->c.requires_contract = flag_field(env, given, kind, "requiresContract");
  options->c.library = options->library = text_field(env, given, kind, "library");
  options->c.cache = options->cache = text_field(env, given, kind, "cache");
  options->c.digest = options->digest = text_field(env, given, kind, "digest");
  options->c.source = options->source = text_field(env, given, kind, "source");
  options->golden.env = env;
  options->golden.consumer = consumer_field(env, given, kind, "golden");
  if (options->golden.consumer != NULL) {
    options->c.golden = fill_golden;
    options->c.user = &options->golden;
  }
}

static void free_options(struct options* options) {
  free(options->library);
  free(options->cache);
  free(options->digest);
  free(options->source);
}

static ounce_app_session* session_at(jlong address) { return (ounce_app_session*)(intptr_t)address; }
static ounce_app_call* call_at(jlong address) { return (ounce_app_call*)(intptr_t)address; }

JNIEXPORT jstring NATIVE(version)(JNIEnv* env, jclass self) {
  (void)self;
  return (*env)->NewStringUTF(env, ounce_app_version());
}

JNIEXPORT jstring NATIVE(statusName)(JNIEnv* env, jclass self, jint status) {
  (void)self;
  return (*env)->NewStringUTF(env, ounce_app_status_name(status));
}

JNIEXPORT void NATIVE(shareThreads)(JNIEnv* env, jclass self, jint threads) {
  (void)self;
  failed(env, ounce_app_share_threads(threads < 0 ? 0 : (unsigned)threads));
}

JNIEXPORT jlong NATIVE(open)(JNIEnv* env, jclass self, jstring model, jobject given) {
  struct options options;
  ounce_app_session* session = NULL;
  char* path = utf8(env, model);
  int status;
  (void)self;
  read_options(env, given, &options);
  status = (*env)->ExceptionCheck(env) ? OUNCE_APP_INTERNAL : ounce_app_open(path, &options.c, &session);
  free_options(&options);
  free(path);
  failed(env, status);
  return (jlong)(intptr_t)session;
}

JNIEXPORT jlong NATIVE(openBuffer)(JNIEnv* env, jclass self, jobject model, jobject given) {
  struct options options;
  ounce_app_session* session = NULL;
  const void* bytes = model == NULL ? NULL : (*env)->GetDirectBufferAddress(env, model);
  int status;
  (void)self;
  if (bytes == NULL) {
    throw_status(env, OUNCE_APP_USAGE, "the buffer is not a direct buffer");
    return 0;
  }
  read_options(env, given, &options);
  status =
      ounce_app_open_memory(bytes, (size_t)(*env)->GetDirectBufferCapacity(env, model), &options.c, &session);
  free_options(&options);
  failed(env, status);
  return (jlong)(intptr_t)session;
}

JNIEXPORT jlong NATIVE(openDescriptor)(JNIEnv* env, jclass self, jint descriptor, jlong offset, jlong length,
                                       jobject given) {
  struct options options;
  ounce_app_session* session = NULL;
  int status;
  (void)self;
  if (offset < 0 || length < 0) {
    throw_status(env, OUNCE_APP_USAGE, "the offset and the length must not be negative");
    return 0;
  }
  read_options(env, given, &options);
  status = ounce_app_open_descriptor(descriptor, (uint64_t)offset, (uint64_t)length, &options.c, &session);
  free_options(&options);
  failed(env, status);
  return (jlong)(intptr_t)session;
}

JNIEXPORT void NATIVE(close)(JNIEnv* env, jclass self, jlong session) {
  (void)env, (void)self;
  ounce_app_close(session_at(session));
}

JNIEXPORT jobjectArray NATIVE(names)(JNIEnv* env, jclass self, jlong session, jboolean outputs) {
  const ounce_app_session* model = session_at(session);
  size_t count = outputs ? ounce_app_output_count(model) : ounce_app_input_count(model), i;
  jobjectArray names =
      (*env)->NewObjectArray(env, (jsize)count, (*env)->FindClass(env, "java/lang/String"), NULL);
  (void)self;
  for (i = 0; names != NULL && i < count; ++i) {
    ounce_app_value value;
    if (failed(env, outputs ? ounce_app_output(model, i, &value) : ounce_app_input(model, i, &value)))
      return NULL;
    (*env)->SetObjectArrayElement(env, names, (jsize)i, (*env)->NewStringUTF(env, value.name));
  }
  return names;
}

JNIEXPORT jstring NATIVE(metadata)(JNIEnv* env, jclass self, jlong session, jstring key) {
  char *name = utf8(env, key), *text;
  size_t bytes = 0;
  jstring made = NULL;
  (void)self;
  if (!failed(env, ounce_app_metadata(session_at(session), name, NULL, 0, &bytes)) && bytes != 0) {
    text = malloc(bytes);
    if (text != NULL && !failed(env, ounce_app_metadata(session_at(session), name, text, bytes, &bytes)))
      made = (*env)->NewStringUTF(env, text);
    free(text);
  }
  free(name);
  return made;
}

static int facts_of(JNIEnv* env, jlong session, ounce_app_facts* facts) {
  facts->size = sizeof *facts;
  return !failed(env, ounce_app_get_facts(session_at(session), facts));
}

JNIEXPORT jboolean NATIVE(isUnpacked)(JNIEnv* env, jclass self, jlong session) {
  ounce_app_facts facts;
  (void)self;
  return facts_of(env, session, &facts) && facts.is_unpacked ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jstring NATIVE(runtimeVersion)(JNIEnv* env, jclass self, jlong session) {
  ounce_app_facts facts;
  (void)self;
  return facts_of(env, session, &facts) ? (*env)->NewStringUTF(env, facts.runtime_version) : NULL;
}

/* Creates a call of a session or, if that is NULL, of a shadow. */
static jlong new_call(JNIEnv* env, const ounce_app_session* session, ounce_app_shadow* shadow, jlong batch,
                      jobjectArray axes, jlongArray sizes) {
  ounce_app_call_options options = {0};
  ounce_app_call* call = NULL;
  jsize count = (*env)->GetArrayLength(env, axes), i;
  char** names = calloc((size_t)count + 1, sizeof *names);
  int64_t* lengths = calloc((size_t)count + 1, sizeof *lengths);
  if (names != NULL && lengths != NULL) {
    for (i = 0; i < count; ++i) names[i] = utf8(env, (jstring)(*env)->GetObjectArrayElement(env, axes, i));
    (*env)->GetLongArrayRegion(env, sizes, 0, count, (jlong*)lengths);
    options.size = sizeof options;
    options.batch = batch;
    options.axes = (const char* const*)names;
    options.sizes = lengths;
    options.axes_count = (size_t)count;
    if (!(*env)->ExceptionCheck(env))
      failed(env, session != NULL ? ounce_app_call_new(session, &options, &call)
                                  : ounce_app_shadow_call_new(shadow, &options, &call));
  } else {
    throw_status(env, OUNCE_APP_MEMORY, "out of memory");
  }
  for (i = 0; names != NULL && i < count; ++i) free(names[i]);
  free(names);
  free(lengths);
  return (jlong)(intptr_t)call;
}

JNIEXPORT jlong NATIVE(newCall)(JNIEnv* env, jclass self, jlong session, jlong batch, jobjectArray axes,
                                jlongArray sizes) {
  (void)self;
  return new_call(env, session_at(session), NULL, batch, axes, sizes);
}

JNIEXPORT void NATIVE(freeCall)(JNIEnv* env, jclass self, jlong call) {
  (void)env, (void)self;
  ounce_app_call_free(call_at(call));
}

JNIEXPORT jobject NATIVE(input)(JNIEnv* env, jclass self, jlong call, jstring name, jint type) {
  char* text = utf8(env, name);
  void* values = NULL;
  size_t bytes = 0;
  int status = ounce_app_call_input(call_at(call), text, type, &values, &bytes);
  (void)self;
  free(text);
  return failed(env, status) ? NULL : (*env)->NewDirectByteBuffer(env, values, (jlong)bytes);
}

JNIEXPORT jobject NATIVE(output)(JNIEnv* env, jclass self, jlong call, jstring name, jint type) {
  char* text = utf8(env, name);
  const void* values = NULL;
  size_t bytes = 0;
  int status = ounce_app_call_output(call_at(call), text, type, &values, &bytes);
  (void)self;
  free(text);
  return failed(env, status) ? NULL : (*env)->NewDirectByteBuffer(env, (void*)values, (jlong)bytes);
}

JNIEXPORT jlongArray NATIVE(shape)(JNIEnv* env, jclass self, jlong call, jstring name, jboolean output) {
  char* text = utf8(env, name);
  const int64_t* shape = NULL;
  size_t rank = 0;
  jlongArray made;
  int status = output ? ounce_app_call_output_shape(call_at(call), text, &shape, &rank)
                      : ounce_app_call_input_shape(call_at(call), text, &shape, &rank);
  (void)self;
  free(text);
  if (failed(env, status)) return NULL;
  made = (*env)->NewLongArray(env, (jsize)rank);
  if (made != NULL) (*env)->SetLongArrayRegion(env, made, 0, (jsize)rank, (const jlong*)shape);
  return made;
}

/* Gets the address and the size of a direct buffer. */
static int plane_of(JNIEnv* env, jobject buffer, const uint8_t** plane, jlong* room) {
  *plane = buffer == NULL ? NULL : (const uint8_t*)(*env)->GetDirectBufferAddress(env, buffer);
  *room = *plane == NULL ? 0 : (*env)->GetDirectBufferCapacity(env, buffer);
  if (buffer == NULL || *plane != NULL) return 1;
  throw_status(env, OUNCE_APP_USAGE, "the buffer is not a direct buffer");
  return 0;
}

/* The size of `rows` rows; each but the last takes `stride` bytes. */
static jlong bytes_of_rows(jlong rows, jlong stride, jlong row) {
  return rows < 1 ? 0 : (rows - 1) * stride + row;
}

JNIEXPORT void NATIVE(setImage)(JNIEnv* env, jclass self, jlong call, jstring input, jlong row, jint format,
                                jint width, jint height, jobject plane, jint stride, jobject colours,
                                jint colours_stride, jint rotation, jboolean is_limited) {
  const int is_nv = format == OUNCE_APP_NV12 || format == OUNCE_APP_NV21;
  const jlong each = format == OUNCE_APP_RGBA || format == OUNCE_APP_BGRA ? 4
                     : format == OUNCE_APP_RGB || format == OUNCE_APP_BGR ? 3
                                                                          : 1;
  const jlong wide = ((jlong)width + 1) / 2 * 2;
  ounce_app_pixels pixels;
  jlong room, colours_room;
  char* name;
  int status;
  (void)self;
  memset(&pixels, 0, sizeof pixels);
  pixels.size = sizeof pixels;
  if (!plane_of(env, plane, &pixels.planes[0], &room) ||
      !plane_of(env, colours, &pixels.planes[1], &colours_room))
    return;
  if (stride < 0 || colours_stride < 0 ||
      room < bytes_of_rows(height, stride != 0 ? stride : width * each, width * each) ||
      (is_nv && colours_room < bytes_of_rows(((jlong)height + 1) / 2,
                                             colours_stride != 0 ? colours_stride : wide, wide))) {
    throw_status(env, OUNCE_APP_USAGE, "the buffer is smaller than the image");
    return;
  }
  pixels.format = format;
  pixels.width = width;
  pixels.height = height;
  pixels.strides[0] = (size_t)stride;
  pixels.strides[1] = (size_t)colours_stride;
  pixels.rotation = rotation;
  pixels.is_limited = is_limited;
  name = utf8(env, input);
  status = ounce_app_call_set_image(call_at(call), name, row, &pixels);
  free(name);
  failed(env, status);
}

JNIEXPORT void NATIVE(setSound)(JNIEnv* env, jclass self, jlong call, jstring input, jlong row,
                                jshortArray samples, jint channels, jdouble rate) {
  ounce_app_sound sound;
  char* name;
  jshort* values;
  int status;
  (void)self;
  if (samples == NULL) {
    throw_status(env, OUNCE_APP_USAGE, "the samples are null");
    return;
  }
  memset(&sound, 0, sizeof sound);
  sound.size = sizeof sound;
  sound.count = (size_t)(*env)->GetArrayLength(env, samples);
  sound.channels = channels;
  sound.rate = rate;
  values = (*env)->GetShortArrayElements(env, samples, NULL);
  if (values == NULL) return;
  sound.samples = values;
  name = utf8(env, input);
  status = ounce_app_call_set_sound(call_at(call), name, row, &sound);
  free(name);
  (*env)->ReleaseShortArrayElements(env, samples, values, JNI_ABORT);
  failed(env, status);
}

JNIEXPORT void NATIVE(run)(JNIEnv* env, jclass self, jlong call, jlong nanoseconds) {
  (void)self;
  failed(env, ounce_app_call_run(call_at(call), nanoseconds));
}

JNIEXPORT void NATIVE(cancel)(JNIEnv* env, jclass self, jlong call) {
  (void)env, (void)self;
  ounce_app_call_cancel(call_at(call));
}

JNIEXPORT jstring NATIVE(unpack)(JNIEnv* env, jclass self, jstring model, jstring cache, jobject given) {
  struct options options;
  ounce_app_unpacked* unpacked = calloc(1, sizeof *unpacked);
  char *path = utf8(env, model), *folder = utf8(env, cache);
  jstring file = NULL;
  (void)self;
  read_options(env, given, &options);
  if (unpacked == NULL) {
    throw_status(env, OUNCE_APP_MEMORY, "out of memory");
  } else {
    unpacked->size = sizeof *unpacked;
    if (!failed(env, ounce_app_unpack(path, folder, &options.c, unpacked)) && unpacked->is_unpacked)
      file = (*env)->NewStringUTF(env, unpacked->file);
  }
  free_options(&options);
  free(unpacked);
  free(path);
  free(folder);
  return file;
}

/* A shadow deployment with its alarm, which the thread of the candidate may raise as long as a call exists. */
struct shadow {
  ounce_app_shadow* c;
  JavaVM* vm;
  jobject on_alarm; /* a global reference; NULL: none */
};

static struct shadow* shadow_at(jlong address) { return (struct shadow*)(intptr_t)address; }

static jint attach(JavaVM* vm, JNIEnv** env) {
#ifdef __ANDROID__
  return (*vm)->AttachCurrentThread(vm, env, NULL);
#else
  return (*vm)->AttachCurrentThread(vm, (void**)env, NULL);
#endif
}

/* Runs in a thread that Java does not know. Classes of the app are not found by name there, so the method is
 * that of the object's class. */
static void raise_alarm(void* user, const char* reasons) {
  const struct shadow* shadow = user;
  JNIEnv* env = NULL;
  jclass kind;
  jmethodID accept;
  jstring text;
  if (attach(shadow->vm, &env) != JNI_OK) return;
  kind = (*env)->GetObjectClass(env, shadow->on_alarm);
  accept = (*env)->GetMethodID(env, kind, "accept", "(Ljava/lang/Object;)V");
  text = accept == NULL ? NULL : (*env)->NewStringUTF(env, reasons);
  if (text != NULL) (*env)->CallVoidMethod(env, shadow->on_alarm, accept, text);
  if ((*env)->ExceptionCheck(env)) {
    (*env)->ExceptionDescribe(env);
    (*env)->ExceptionClear(env);
  }
  (*shadow->vm)->DetachCurrentThread(shadow->vm);
}

static void free_alarm(JNIEnv* env, struct shadow* shadow) {
  if (shadow != NULL && shadow->on_alarm != NULL) (*env)->DeleteGlobalRef(env, shadow->on_alarm);
  free(shadow);
}

static void read_shadow_options(JNIEnv* env, jobject given, ounce_app_shadow_options* options) {
  jclass kind = (*env)->GetObjectClass(env, given);
  options->share = number_field(env, given, kind, "share");
  options->queue = (size_t)count_field(env, given, kind, "queue");
  options->save_seconds = number_field(env, given, kind, "saveSeconds");
  options->stays_in_process = flag_field(env, given, kind, "staysInProcess");
  options->candidate_seconds = number_field(env, given, kind, "candidateSeconds");
  options->min_compared = count_field(env, given, kind, "minCompared");
  options->min_agreement = number_field(env, given, kind, "minAgreement");
  options->min_sqnr_db = number_field(env, given, kind, "minSqnrDb");
  options->max_failures = number_field(env, given, kind, "maxFailures");
  options->max_latency_ratio = number_field(env, given, kind, "maxLatencyRatio");
  options->canary_first = number_field(env, given, kind, "canaryFirst");
  options->canary_last = number_field(env, given, kind, "canaryLast");
  options->canary_growth = number_field(env, given, kind, "canaryGrowth");
  options->canary_calls_a_step = count_field(env, given, kind, "canaryCallsAStep");
}

JNIEXPORT jlong NATIVE(newShadow)(JNIEnv* env, jclass self, jlong session, jstring candidate, jobject given) {
  ounce_app_shadow_options options;
  struct options load;
  struct shadow* shadow = calloc(1, sizeof *shadow);
  char *path = utf8(env, candidate), *statistics = NULL;
  jobject on_alarm = NULL, load_given = NULL;
  (void)self;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  if (given != NULL) {
    jclass kind = (*env)->GetObjectClass(env, given);
    jfieldID load_field = (*env)->GetFieldID(env, kind, "load", "Lounce/app/LoadOptions;");
    if (load_field != NULL) load_given = (*env)->GetObjectField(env, given, load_field);
    options.statistics = statistics = text_field(env, given, kind, "statistics");
    on_alarm = consumer_field(env, given, kind, "onAlarm");
    read_shadow_options(env, given, &options);
  }
  read_options(env, load_given, &load);
  options.load = &load.c;
  if (shadow == NULL) {
    throw_status(env, OUNCE_APP_MEMORY, "out of memory");
  } else if (!(*env)->ExceptionCheck(env) && (*env)->GetJavaVM(env, &shadow->vm) == JNI_OK) {
    if (on_alarm != NULL) {
      shadow->on_alarm = (*env)->NewGlobalRef(env, on_alarm);
      options.on_alarm = raise_alarm;
      options.user = shadow;
    }
    failed(env, ounce_app_shadow_new(session_at(session), path, &options, &shadow->c));
  }
  free_options(&load);
  free(statistics);
  free(path);
  if ((*env)->ExceptionCheck(env)) {
    free_alarm(env, shadow);
    return 0;
  }
  return (jlong)(intptr_t)shadow;
}

JNIEXPORT void NATIVE(freeShadow)(JNIEnv* env, jclass self, jlong shadow) {
  (void)env, (void)self;
  ounce_app_shadow_free(shadow_at(shadow)->c);
}

JNIEXPORT void NATIVE(freeAlarm)(JNIEnv* env, jclass self, jlong shadow) {
  (void)self;
  free_alarm(env, shadow_at(shadow));
}

JNIEXPORT jlong NATIVE(newShadowCall)(JNIEnv* env, jclass self, jlong shadow, jlong batch, jobjectArray axes,
                                      jlongArray sizes) {
  (void)self;
  return new_call(env, NULL, shadow_at(shadow)->c, batch, axes, sizes);
}

JNIEXPORT jboolean NATIVE(wasCanary)(JNIEnv* env, jclass self, jlong call) {
  (void)env, (void)self;
  return ounce_app_call_was_canary(call_at(call)) ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jdoubleArray NATIVE(shadowFigures)(JNIEnv* env, jclass self, jlong shadow) {
  ounce_app_shadow_figures figures = {0};
  jdoubleArray made;
  (void)self;
  figures.size = sizeof figures;
  if (failed(env, ounce_app_shadow_get_figures(shadow_at(shadow)->c, &figures))) return NULL;
  {
    const jdouble all[] = {(jdouble)figures.calls,        (jdouble)figures.compared,
                           (jdouble)figures.dropped,      (jdouble)figures.errors,
                           (jdouble)figures.crashes,      (jdouble)figures.timeouts,
                           (jdouble)figures.not_finite,   figures.agreement,
                           figures.sqnr_db,               (jdouble)figures.canary_calls,
                           (jdouble)figures.canary_fallbacks, figures.canary_share};
    const jsize count = (jsize)(sizeof all / sizeof *all);
    made = (*env)->NewDoubleArray(env, count);
    if (made != NULL) (*env)->SetDoubleArrayRegion(env, made, 0, count, all);
  }
  return made;
}

JNIEXPORT jboolean NATIVE(flushShadow)(JNIEnv* env, jclass self, jlong shadow, jlong nanoseconds) {
  const int status = ounce_app_shadow_flush(shadow_at(shadow)->c, nanoseconds);
  (void)self;
  if (status == OUNCE_APP_TIMEOUT) return JNI_FALSE;
  return failed(env, status) ? JNI_FALSE : JNI_TRUE;
}
