// Models in an app: load, run, unpack and shadow (libounce_app). app.h is the same for C.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ounce/error.h>

namespace ounce::app {

// == Status codes and exceptions ==
//
// The codes are the same in C++, C and all bindings.

enum class Status : int {
  kOk = 0,
  kUsage = 1,         // an invalid name, type, shape or setting
  kIo = 2,            // a file cannot be read
  kBadModel = 3,      // the file is truncated, damaged or not a model
  kUnsupported = 4,   // this runtime cannot run the model
  kMemory = 5,        // out of memory
  kNoRuntime = 6,     // no runtime library was found, or it is too old for this library
  kThreadsTaken = 7,  // share_threads() was called after a model was loaded

  kRuntimeTooOld = 20,     // the model was made for a newer ONNX Runtime
  kOtherCpu = 21,          // the model was made for another kind of CPU
  kNotOurs = 22,           // the model was not written by Ounce
  kWrongDigest = 23,       // the file's digest is not the expected one
  kWrongSource = 24,       // the model was made from another source model
  kNoContract = 25,        // the model has no preprocessing contract
  kContractMismatch = 26,  // preprocessing the golden sample gives other values than recorded
  kGoldenMismatch = 27,    // the model's outputs for the golden sample differ from the recorded ones

  kCancelled = 40,
  kTimeout = 41,
  kRunFailed = 42,  // the runtime could not finish a run

  kInternal = 70,  // a bug in Ounce
};

}  // namespace ounce::app

namespace ounce {

template <>
struct NamesOf<app::Status> {
  using enum app::Status;
  static constexpr Named<app::Status> kAll[] = {{kOk, "ok"},
                                                {kUsage, "usage"},
                                                {kIo, "io"},
                                                {kBadModel, "bad_model"},
                                                {kUnsupported, "unsupported"},
                                                {kMemory, "memory"},
                                                {kNoRuntime, "no_runtime"},
                                                {kThreadsTaken, "threads_taken"},
                                                {kRuntimeTooOld, "runtime_too_old"},
                                                {kOtherCpu, "other_cpu"},
                                                {kNotOurs, "not_ours"},
                                                {kWrongDigest, "wrong_digest"},
                                                {kWrongSource, "wrong_source"},
                                                {kNoContract, "no_contract"},
                                                {kContractMismatch, "contract_mismatch"},
                                                {kGoldenMismatch, "golden_mismatch"},
                                                {kCancelled, "cancelled"},
                                                {kTimeout, "timeout"},
                                                {kRunFailed, "run_failed"},
                                                {kInternal, "internal"}};
};

}  // namespace ounce

namespace ounce::app {

// The only exception type of the app library. what() is a one-line message.
class Failure : public Error {
 public:
  Failure(Status status, const std::string& message, std::string where = {});

  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

// == Sessions ==
//
// Loads and runs a model in an app.
//
//   ounce::app::Session session = ounce::app::Session::load("classifier.w8.onnx", {.cache = "cache"});
//                                                    // or a .tflite file, which LiteRT runs
//   ounce::app::Call call = session.call();          // one per thread
//   std::span<float> pixels = call.input<float>("pixel_values");
//   …                                                // fill them; repeat fill and run as needed
//   call.run(std::chrono::milliseconds(50));
//   std::span<const float> logits = call.output<float>("logits");
//
// Several threads may use a Session at once; a Call must be used by one thread at a time. Both are movable
// and release their resources when destroyed, in any order. A process has one ONNX Runtime environment: the
// first model creates it, all users of the same runtime library share it, and it is never destroyed.
//
// Ounce allocates nothing during a run: the Call owns the memory of the inputs, and outputs reuse the memory
// of the first run. With LiteRT each Call needs its own compiled model: the first Call takes the one that
// loading compiled, and each further Call costs as much time and memory as loading.

using Shape = std::vector<std::int64_t>;

// The values equal ONNX's TensorProto.DataType.
enum class Type : int {
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
  kOther = 0,  // not a tensor, or a type without a C++ equivalent
};

// An input or output of a model.
struct Value {
  std::string name;
  Type type = Type::kOther;
  Shape shape;                    // -1: dynamic axis
  std::vector<std::string> axes;  // names of the dynamic axes in order; empty if unnamed
};

enum class Stage { kOpen, kUnpack, kLoad, kCheck };

// Checks that run while a model is loaded. Each failed check throws a Failure with its own Status.
struct Checks {
  bool is_ours = false;       // require the metadata that Ounce writes
  bool has_contract = false;  // require a preprocessing contract
  // Expected SHA-256 of the model and its external data, 64 hex digits. `ounce unpack --json` prints it as
  // `sha256`. Without external data it equals the output of `sha256sum`. With external data it is the SHA-256
  // of lines of text, each ending in a line feed: the digest of the model file, then the digest of each
  // external file, sorted by location (byte order). The 32-digit `digest` of `ounce unpack --json` is
  // accepted, too; it detects mistakes, but is not cryptographic. A model loaded without a path must not have
  // external data if a digest is given.
  std::string digest = {};
  std::string source = {};  // expected digest of the source model, as `ounce prove` prints it
  // Check the runtime version and the CPU against those that the model was made for.
  bool runtime = true, cpu = true;
};

class Call;
struct Pixels;
struct Sound;

struct CallOptions {
  std::int64_t batch = 1;                          // size of a dynamic first axis
  std::map<std::string, std::int64_t> sizes = {};  // sizes of other dynamic axes, by axis name
  std::map<std::string, Shape> shapes = {};        // or full shapes, by input name
  unsigned warm_up = 1;  // runs when the call is created; they allocate the memory of the outputs
};

struct LoadOptions {
  // Library of ONNX Runtime or LiteRT, whichever runs the model: a path or an installed version. Empty: the
  // newest installed one, else the one that the system's loader finds, such as the app's own.
  std::string library = {};
  unsigned threads = 1;         // intra-op threads of this model; 0: one per core
  bool shares_threads = false;  // use the threads of share_threads() instead
  // ONNX Runtime: session config entries. LiteRT: litert.kernels = "xnnpack" or "builtin".
  std::map<std::string, std::string> config = {};
  Checks checks = {};
  // verify_on_load: called once with a Call; must fill the inputs with the golden sample of the model's
  // contract, with the same code that the app uses later. Loading fails if the preprocessed inputs differ
  // from the recorded ones, or if the outputs are not close to the recorded ones.
  std::function<void(Call& call)> golden = {};
  CallOptions golden_call = {};  // for models with dynamic axes other than the first
  // Cache folder for unpacked models (UnpackOptions). Empty: load the model without unpacking it.
  std::filesystem::path cache = {};
  // Reports progress: `share` goes from 0 to 1. Return false to cancel loading as soon as possible.
  std::function<bool(Stage stage, double share)> progress = {};
};

// Facts about a loaded model.
struct Facts {
  // Digest of the model and its external data, 32 hex digits, not cryptographic. Empty for models in ONNX
  // Runtime's own format (.ort).
  std::string digest;
  std::string runtime_version;
  bool is_unpacked = false;      // its weights are memory-mapped from a file in the cache
  std::string why_not_unpacked;  // set if `cache` was given but could not be used
  double load_seconds = 0;
};

class Session {
 public:
  // Load a model from a file, from memory, or from a part of an open file. All throw Failure.
  static Session load(const std::filesystem::path& model, const LoadOptions& options = {});
  // The bytes may be freed after loading.
  static Session from_memory(std::span<const std::byte> model, const LoadOptions& options = {});
  // For Android's assets. The caller keeps the descriptor and closes it.
  static Session from_descriptor(int descriptor, std::uint64_t offset, std::uint64_t length,
                                 const LoadOptions& options = {});

  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  const std::vector<Value>& inputs() const;
  const std::vector<Value>& outputs() const;
  const Facts& facts() const;
  std::optional<std::string> metadata(const std::string& key) const;

  Call call(const CallOptions& options = {}) const;
  Session share() const;  // another handle of the same model, which is freed with the last handle

 private:
  friend class Call;
  friend class Shadow;
  friend class ShadowCall;
  friend struct InputFiller;
  friend struct Loader;
  struct Impl;
  explicit Session(std::shared_ptr<const Impl> impl);

  std::shared_ptr<const Impl> impl_;
};

// Maps a C++ type to the model's type. 16-bit floats are passed as std::uint16_t.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>) return Type::kFloat32;
  if constexpr (std::is_same_v<T, double>) return Type::kFloat64;
  if constexpr (std::is_same_v<T, bool>) return Type::kBool;
  if constexpr (std::is_same_v<T, std::int8_t>) return Type::kInt8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Type::kUint8;
  if constexpr (std::is_same_v<T, std::int16_t>) return Type::kInt16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return Type::kUint16;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::kInt32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Type::kUint32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::kInt64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Type::kUint64;
  return Type::kOther;
}

class Call {
 public:
  ~Call();
  Call(Call&&) noexcept;
  Call& operator=(Call&&) noexcept;

  // Memory of an input, to be filled by the caller; valid as long as the Call. The name may be empty if the
  // model has one input. Throws Failure{kUsage} if the name or the type does not match.
  template <class T>
  std::span<T> input(std::string_view name = {}) {
    const Bytes found = input_bytes(name, type_of<T>());
    return {reinterpret_cast<T*>(found.data), found.size / sizeof(T)};
  }
  // An output of the last run; valid until the next run.
  template <class T>
  std::span<const T> output(std::string_view name = {}) const {
    const Bytes found = output_bytes(name, type_of<T>());
    return {reinterpret_cast<const T*>(found.data), found.size / sizeof(T)};
  }
  // Preprocess an image or a sound as the model's contract says (Pixels, Sound) and write it to one row of the
  // batch. Throws Failure{kNoContract}, or Failure{kUsage} if the contract does not cover the input.
  void set_image(const Pixels& pixels, std::string_view input = {}, std::int64_t row = 0);
  void set_sound(const Sound& sound, std::string_view input = {}, std::int64_t row = 0);

  const Shape& input_shape(std::string_view name = {}) const;
  const Shape& output_shape(std::string_view name = {}) const;

  // Runs the model. Throws Failure: kRunFailed, kCancelled, kTimeout, kMemory. A cancellation or timeout
  // takes effect between two nodes of the model. A run that exceeds the timeout has no outputs.
  void run() { run(std::chrono::nanoseconds::max()); }
  void run(std::chrono::nanoseconds timeout);
  // Cancels the current run, if there is one. May be called from any thread.
  void cancel() noexcept;

  // Untyped access, for types known only at run time. Type::kOther matches every type.
  struct Bytes {
    std::byte* data;
    std::size_t size;
  };
  Bytes input_bytes(std::string_view name, Type type = Type::kOther);
  Bytes output_bytes(std::string_view name, Type type = Type::kOther) const;

 private:
  friend class Session;
  friend class Shadow;
  friend class ShadowCall;
  friend struct InputFiller;
  friend struct Loader;
  struct Impl;
  std::size_t output_index(std::string_view name, Type type) const;
  explicit Call(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Creates the threads for all models loaded with `shares_threads`; 0: one per core. Call it before the first
// model of the process is loaded; later calls throw Failure{kThreadsTaken}.
void share_threads(unsigned threads);

// == Inputs ==
//
// Preprocessing in an app: turns camera pixels and microphone samples into model inputs as the model's
// contract (docs/reference/contract.md) says, with the same code that calibration and verification use.
//
//   call.set_image({.format = PixelFormat::kNv21, .width = 640, .height = 480, .planes = {y, vu}});
//   call.run();
//
//   SoundStream stream(session);                      // the model's contract cuts sound into frames
//   stream.push(samples);                             // any number of samples
//   while (stream.next(call)) call.run();

enum class PixelFormat {
  kRgba,
  kBgra,
  kRgb,
  kBgr,
  kGrey,
  kNv12,  // a plane of Y, then a plane of interleaved Cb and Cr, one pair for each 2 × 2 pixels
  kNv21,  // as NV12, but Cr before Cb: Android's cameras
};

// The value range of NV12 and NV21.
enum class YuvRange {
  kFull,     // 0 … 255: JPEG and cameras; converted to RGB exactly as libjpeg does
  kLimited,  // 16 … 235: video (BT.601)
};

struct Pixels {
  PixelFormat format = PixelFormat::kRgba;
  int width = 0, height = 0;  // before rotation
  std::array<const std::uint8_t*, 2> planes = {};
  std::array<std::size_t, 2> strides = {};  // bytes from one row to the next; 0: rows without padding
  int rotation = 0;  // clockwise degrees that make the image upright: 0, 90, 180 or 270
  YuvRange range = YuvRange::kFull;
};

struct Sound {
  // Set exactly one: 16-bit samples, or floats from -1 to 1 if the contract was made from float data.
  std::span<const std::int16_t> samples = {};
  std::span<const float> floats = {};
  int channels = 1;  // interleaved
  double rate = 0;   // samples per second; must equal the contract's rate. 0: not checked
};

// Cuts a stream of samples into the frames of an input's contract. Frames overlap if the contract's hop is
// shorter than its frame.
class SoundStream {
 public:
  // Throws Failure{kNoContract}, or Failure{kUsage} if the contract has no frames.
  explicit SoundStream(const Session& session, std::string input = {});
  ~SoundStream();
  SoundStream(SoundStream&&) noexcept;
  SoundStream& operator=(SoundStream&&) noexcept;

  // Appends samples of one channel at the contract's rate. Do not mix the two types in one stream.
  void push(std::span<const std::int16_t> samples);
  void push(std::span<const float> samples);
  // Fills the input with the next frame. Returns false if not enough samples were pushed yet.
  bool next(Call& call);
  void reset();  // drops all samples, to start another recording

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// == Unpacked models ==
//
// Unpacks compressed models into a cache on the device: ONNX Runtime dequantizes the weights and optimizes
// the graph once, and saves the result in its own format. Later loads memory-map this file, so that the
// weights take no heap memory.
//
//   Session session = Session::load("model.w8.onnx", {.cache = "/data/…/cache"});   // unpacks on first use
//   Unpacked unpacked = unpack("model.w8.onnx", "/data/…/cache");                   // unpacks ahead of time
//
// Each file in the cache belongs to one model, runtime version, kind of CPU and set of session options; its
// name and its last bytes record them. A file is written atomically, after it was loaded and gave
// bit-identical outputs. Files may be deleted at any time, even while they are in use. A file's digest is
// checked when it is first loaded and whenever it was modified since; unpack() checks it always. A damaged
// file is replaced. The cache is as trusted as the app: users who can write to it can change the app's
// results. If ounce-runner is installed, it creates the files, so that the app's own memory does not grow.

struct UnpackOptions {
  std::string library = {};                         // ONNX Runtime, as in LoadOptions
  std::map<std::string, std::string> config = {};   // session config entries of ONNX Runtime
  bool uses_runner = true;                          // use ounce-runner if it is installed
  double seconds = 600;                             // time limit of the runner; 0: no limit
  std::uint64_t max_bytes = 0;                      // size limit of the cache (evict()); 0: no limit
  std::function<bool(double share)> progress = {};  // return false to cancel
};

struct Unpacked {
  std::filesystem::path model;
  std::filesystem::path file;  // empty: load the model directly; `why_not` has the reason
  std::string why_not;
  Status status = Status::kOk;  // kind of `why_not`: kIo, kUnsupported, kMemory, kTimeout
  bool is_new = false;          // the file was created by this call
  bool used_runner = false;
  std::uint64_t bytes = 0, model_bytes = 0;  // of the file on disk; of the compressed model
  // Digest of the model and its external data, 32 hex digits; part of the file's name. Not cryptographic.
  std::string digest;
  std::string runtime_version, cpu;
  double seconds = 0;
  std::string sha256;        // 64 hex digits, for Checks::digest
  bool was_damaged = false;  // the cache had a damaged or truncated file, which was not used
};

// Unpacks a model into the cache, or finds its file there. Throws Failure if the model does not load or the
// call is canceled (kCancelled). A full disk, a missing runner or a model too large for the format (2 GiB) do
// not throw: see `why_not`.
Unpacked unpack(const std::filesystem::path& model, const std::filesystem::path& cache,
                const UnpackOptions& options = {});

struct CachedFile {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::string digest, runtime_version;  // from the file's name
};

// Lists the files in a cache, most recently used first.
std::vector<CachedFile> cached_files(const std::filesystem::path& cache);
// Deletes the least recently used files until the others take at most `max_bytes`. Returns the number of
// deleted files.
std::size_t evict(const std::filesystem::path& cache, std::uint64_t max_bytes);

// == Shadow deployment ==
//
// Shadow deployment: runs a candidate model on a share of the app's calls, in addition to the primary model,
// and compares their outputs.
//
//   Shadow shadow(Session::load("model.onnx"), "model.w8.onnx", {.share = 0.1, .statistics = "shadow.json"});
//   ShadowCall call = shadow.call();          // as Session::call(): one per thread
//   …
//   call.run();                               // runs the primary; does not wait for the candidate
//
// The candidate runs in its own thread and, if ounce-runner is installed, in its own process, so a crash, a
// hang or wrong outputs of the candidate do not affect the primary. Calls wait for comparison in a queue of
// fixed size; calls that find the queue full are counted as dropped. Inputs are never stored. The only record
// is a file of aggregated statistics, which `ounce shadow report` reads and merges with those of other
// devices.
//
// With a canary, the candidate's outputs are returned for a share of the calls, which grows while no failure
// occurs. If the candidate fails or an alarm is raised, the primary runs instead, for the failed call, too;
// the canary stops, and the statistics record the reason.

// Histogram of latencies with logarithmic buckets, each 9 % wider than the one before. Histograms can be
// added.
class Latencies {
 public:
  static constexpr std::size_t kBuckets = 320;  // from 0.1 µs up, eight per doubling

  void add(double seconds);
  void add(const Latencies& other);
  std::uint64_t count() const;
  double quantile(double share) const;  // in seconds; 0 if the histogram is empty

  const std::array<std::uint64_t, kBuckets>& buckets() const { return buckets_; }
  void set(std::size_t bucket, std::uint64_t count) { buckets_.at(bucket) = count; }

 private:
  std::array<std::uint64_t, kBuckets> buckets_{};
};

// Statistics of one output over all compared calls.
struct ShadowOutput {
  std::uint64_t values = 0;
  double signal = 0, noise = 0;  // sums of squares of the primary's values, and of the differences
  double largest = 0;            // largest absolute difference
  std::uint64_t answers = 0;     // predictions: rows of class scores
  std::uint64_t flips = 0;       // changed predictions: rows where the candidate's top-1 class differs

  double sqnr_db() const;  // infinite if the outputs are identical
};

struct ShadowStatistics {
  std::string primary, candidate;  // digests of the models
  std::uint64_t calls = 0;         // calls of the app
  std::uint64_t compared = 0;
  std::uint64_t dropped = 0;  // selected for comparison, but the queue was full or the candidate was paused
  std::uint64_t errors = 0;   // the candidate could not run, or its output shapes differ
  std::uint64_t crashes = 0;  // the candidate's process ended
  std::uint64_t timeouts = 0;
  std::uint64_t not_finite = 0;  // NaN or infinity where the primary's value is finite
  std::uint64_t canary_calls = 0, canary_fallbacks = 0;
  double canary_share = 0;
  std::string canary_stopped;  // the reason; empty: the canary is active, or there is none
  std::map<std::string, ShadowOutput> outputs;
  Latencies primary_latency, candidate_latency;
  std::uint64_t devices = 1;  // number of merged files

  std::uint64_t failures() const { return errors + crashes + timeouts + not_finite; }
  std::uint64_t answers() const;
  std::uint64_t flips() const;
  double agreement() const;  // share of unchanged predictions; 1 if there are none
  double sqnr_db() const;    // of the worst output
};

// Thresholds. No verdict is given before `min_compared` calls.
struct ShadowLimits {
  std::uint64_t min_compared = 100;
  double min_agreement = 0.99;
  std::optional<double> min_sqnr_db = {};
  double max_failures = 0.001;                   // as a share of the compared calls
  std::optional<double> max_latency_ratio = {};  // the candidate's p50 divided by the primary's
};

struct ShadowVerdict {
  bool is_known = false;  // enough calls were compared
  bool passed = false;
  std::vector<std::string> reasons;  // why it failed, or why it is not known
};

// Throws Failure{kIo}, or Failure{kUsage} if the file has another format.
ShadowStatistics read_shadow(const std::filesystem::path& file);
// Replaces the file atomically. Throws Failure{kIo}.
void write_shadow(const ShadowStatistics& statistics, const std::filesystem::path& file);
// Adds `other` to `all`. Throws Failure{kUsage} if they are about different models.
void merge(ShadowStatistics& all, const ShadowStatistics& other);
ShadowVerdict judge(const ShadowStatistics& statistics, const ShadowLimits& limits);

struct Canary {
  double first = 0.01, last = 1;      // initial and final share of the calls
  double growth = 2;                  // factor by which the share grows at each step
  std::uint64_t calls_a_step = 1000;  // successful canary calls per step
};

struct ShadowOptions {
  double share = 1;        // share of the calls to compare
  std::size_t queue = 16;  // most calls that may wait for comparison
  // File for the statistics; the next process continues with it. Empty: none.
  std::filesystem::path statistics = {};
  double save_seconds = 10;      // least time between two writes of the file
  bool isolate = true;           // run the candidate in its own process if ounce-runner is installed
  double candidate_seconds = 5;  // timeout of one run of the candidate
  LoadOptions load = {};         // of the candidate; only library, threads and config are used
  ShadowLimits limits = {};      // exceeding them raises an alarm
  std::function<void(const ShadowVerdict&)> on_alarm = {};  // called once, in the candidate's thread
  std::optional<Canary> canary = {};
};

class ShadowCall;

class Shadow {
 public:
  // Throws Failure if the candidate's file cannot be read, or if `statistics` is about other models. A
  // candidate that does not load is counted as an error; it does not throw.
  Shadow(Session primary, const std::filesystem::path& candidate, const ShadowOptions& options = {});
  ~Shadow();  // drops the calls that wait for comparison
  Shadow(Shadow&&) noexcept;
  Shadow& operator=(Shadow&&) noexcept;

  ShadowCall call(const CallOptions& options = {});
  ShadowStatistics statistics() const;
  // Waits until all queued calls are compared and saved. Returns false if that takes longer than `patience`.
  bool flush(std::chrono::nanoseconds patience = std::chrono::seconds(10));

 private:
  friend class ShadowCall;
  friend struct ShadowTesting;
  struct Impl;
  explicit Shadow(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

class ShadowCall {
 public:
  ~ShadowCall();
  ShadowCall(ShadowCall&&) noexcept;
  ShadowCall& operator=(ShadowCall&&) noexcept;

  // The primary's call: fill its inputs.
  Call& inputs();
  void run() { run(std::chrono::nanoseconds::max()); }
  void run(std::chrono::nanoseconds timeout);
  // An output of the last run: the candidate's if was_canary(), else the primary's.
  template <class T>
  std::span<const T> output(std::string_view name = {}) const {
    const Call::Bytes found = output_bytes(name, type_of<T>());
    return {reinterpret_cast<const T*>(found.data), found.size / sizeof(T)};
  }
  Call::Bytes output_bytes(std::string_view name, Type type = Type::kOther) const;
  bool was_canary() const;
  void cancel() noexcept;

 private:
  friend class Shadow;
  struct Impl;
  bool answer_by_canary() noexcept;
  explicit ShadowCall(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace ounce::app
