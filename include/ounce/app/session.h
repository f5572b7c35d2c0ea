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
#pragma once

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

#include <ounce/app/status.h>

namespace ounce::app {

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
  // Cache folder for unpacked models (unpack.h). Empty: load the model without unpacking it.
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
  // Preprocess an image or a sound as the model's contract says (inputs.h) and write it to one row of the
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

}  // namespace ounce::app
