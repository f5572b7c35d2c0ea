// A model in an app, and the calls of it.
//
//   ounce::app::Session session = ounce::app::Session::load("classifier.w8.onnx", {.cache = "cache"});
//                                                 // or a .tflite file, which LiteRT runs
//   ounce::app::Call call = session.call();          // one for each thread
//   std::span<float> pixels = call.input<float>("pixel_values");
//   …                                                // fill them, as often as you like
//   call.run(std::chrono::milliseconds(50));
//   std::span<const float> logits = call.output<float>("logits");
//
// A Session may be used by several threads at once, a Call by one at a time. Both are values that move and
// give everything back when they go, in any order. A process has one environment of the runtime: it is made
// by the first model, shared with whoever else uses the same library of ONNX Runtime, and never closed.
//
// A run allocates nothing of ours: inputs stand in memory of the call, outputs in that of the first run. In
// LiteRT each call compiles the model for itself: the first one takes what loading compiled, and another one
// costs time and memory as loading does.
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

// The numbers are those of ONNX.
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
  kOther = 0,  // no tensor, or of a type that no app can fill
};

// What a model takes or gives.
struct Value {
  std::string name;
  Type type = Type::kOther;
  Shape shape;                    // -1: free
  std::vector<std::string> axes;  // the names of the free axes, where they have one
};

enum class Stage { kOpen, kUnpack, kLoad, kCheck };

// What has to hold before a model is given to anybody. Each has its Status.
struct Checks {
  bool is_ours = false;       // carries the metadata of Ounce
  bool has_contract = false;  // and a preprocessing contract
  // SHA-256 of the model and its external data, 64 digits. `ounce unpack --json` prints it as `sha256`.
  // Without external data it is what `sha256sum` prints. With external data it is the SHA-256 of lines of
  // text: the digest of the model file, then the digest of each external file, in the byte order of the
  // locations that the model names, each followed by a line feed. The 32 digits of `digest` of `ounce unpack
  // --json` are taken, too: they find mistakes and are not for security. A model that comes without a path
  // must not name external data.
  std::string digest = {};
  std::string source = {};  // of what it was made from, as `ounce prove` shows it
  // What the model says about the runtime and the CPU that it was made for.
  bool runtime = true, cpu = true;
};

class Call;
struct Pixels;
struct Sound;

struct CallOptions {
  std::int64_t batch = 1;                          // of a first axis that is free
  std::map<std::string, std::int64_t> sizes = {};  // of other free axes, by their names
  std::map<std::string, Shape> shapes = {};        // or of whole inputs
  unsigned warm_up = 1;  // runs before the first one counts; the outputs get their memory there
};

struct LoadOptions {
  // Of the model's runtime, ONNX Runtime or LiteRT: a path, or a version that is installed; empty: the
  // newest, or the app's own.
  std::string library = {};
  unsigned threads = 1;         // of this model alone, inside an op; 0: one for each core
  bool shares_threads = false;  // takes those of share_threads() instead
  // Entries of ONNX Runtime's session options; of LiteRT litert.kernels: "xnnpack" or "builtin".
  std::map<std::string, std::string> config = {};
  Checks checks = {};
  // verify_on_load: fills the inputs with the golden sample of the model's contract, by the code that fills
  // them later. What goes in must be what was recorded, and what comes out near it.
  std::function<void(Call& call)> golden = {};
  CallOptions golden_call = {};  // where the model has free axes besides its first one
  // Where the model is unpacked, once (unpack.h); empty: it is loaded as it is.
  std::filesystem::path cache = {};
  // Told as loading goes on; `share` from 0 to 1. False ends it at the next chance.
  std::function<bool(Stage stage, double share)> progress = {};
};

// What is known of a model that was loaded.
struct Facts {
  // 32 digits, of the model with its external data; not for security. Empty for a file of the runtime's own
  // format.
  std::string digest;
  std::string runtime_version;
  bool is_unpacked = false;      // its weights are pages of a file in the cache
  std::string why_not_unpacked;  // though it was asked for
  double load_seconds = 0;
};

class Session {
 public:
  // Throw Failure.
  static Session load(const std::filesystem::path& model, const LoadOptions& options = {});
  // The bytes may go afterwards.
  static Session from_memory(std::span<const std::byte> model, const LoadOptions& options = {});
  // A part of a file that is open, as Android's assets are; the descriptor stays the caller's.
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
  Session share() const;  // the same model; it goes when the last one goes

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

// Of C++'s types, those that stand for one of the model's. 16-bit floats are std::uint16_t.
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

  // The values of an input, to be written; they stay where they are as long as the call does. Without a name:
  // the only one. Throws Failure{kUsage} for another type or name.
  template <class T>
  std::span<T> input(std::string_view name = {}) {
    const Bytes found = input_bytes(name, type_of<T>());
    return {reinterpret_cast<T*>(found.data), found.size / sizeof(T)};
  }
  // What the last run gave, until the next one.
  template <class T>
  std::span<const T> output(std::string_view name = {}) const {
    const Bytes found = output_bytes(name, type_of<T>());
    return {reinterpret_cast<const T*>(found.data), found.size / sizeof(T)};
  }
  // Pixels and samples as they come (inputs.h): the model's contract makes the values of the input, of one
  // row of a batch. Throws Failure{kNoContract}, and Failure{kUsage} for what the contract does not speak of.
  void set_image(const Pixels& pixels, std::string_view input = {}, std::int64_t row = 0);
  void set_sound(const Sound& sound, std::string_view input = {}, std::int64_t row = 0);

  const Shape& input_shape(std::string_view name = {}) const;
  const Shape& output_shape(std::string_view name = {}) const;

  // Throws Failure: kRunFailed, kCancelled, kTimeout, kMemory. A run that is to end does so between two nodes
  // of the model; one that took longer has no outputs.
  void run() { run(std::chrono::nanoseconds::max()); }
  void run(std::chrono::nanoseconds timeout);
  // From any thread: ends the run that goes on, if one does.
  void cancel() noexcept;

  // For those who know the type only at run time: Type::kOther takes any.
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

// Threads for all models that are loaded with `shares_threads`; 0: one for each core. Before the first model
// of the process. Throws Failure{kThreadsTaken} when that has passed.
void share_threads(unsigned threads);

}  // namespace ounce::app
