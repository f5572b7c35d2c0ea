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
  throw_status(env, status, ounce_app_error());
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

struct options {
  ounce_app_options c;
  char *library, *cache, *digest, *source;
};

static char* text_field(JNIEnv* env, jobject object, jclass kind, const char* name) {
  jfieldID field = (*env)->GetFieldID(env, kind, name, "Ljava/lang/String;");
  return field == NULL ? NULL : utf8(env, (jstring)(*env)->GetObjectField(env, object, field));
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
  if (!(*env)->ExceptionCheck(env)) failed(env, status);
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

JNIEXPORT jlong NATIVE(newCall)(JNIEnv* env, jclass self, jlong session, jlong batch, jobjectArray axes,
                                jlongArray sizes) {
  ounce_app_call_options options = {0};
  ounce_app_call* call = NULL;
  jsize count = (*env)->GetArrayLength(env, axes), i;
  char** names = calloc((size_t)count + 1, sizeof *names);
  int64_t* lengths = calloc((size_t)count + 1, sizeof *lengths);
  (void)self;
  if (names != NULL && lengths != NULL) {
    for (i = 0; i < count; ++i) names[i] = utf8(env, (jstring)(*env)->GetObjectArrayElement(env, axes, i));
    (*env)->GetLongArrayRegion(env, sizes, 0, count, (jlong*)lengths);
    options.size = sizeof options;
    options.batch = batch;
    options.axes = (const char* const*)names;
    options.sizes = lengths;
    options.axes_count = (size_t)count;
    if (!(*env)->ExceptionCheck(env)) failed(env, ounce_app_call_new(session_at(session), &options, &call));
  } else {
    throw_status(env, OUNCE_APP_MEMORY, "out of memory");
  }
  for (i = 0; names != NULL && i < count; ++i) free(names[i]);
  free(names);
  free(lengths);
  return (jlong)(intptr_t)call;
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
