// A .tflite model that LiteRT has loaded, with its inputs and outputs bound. Runs allocate no memory in
// Ounce.
//
//   litert::Session session(litert::Library::open(path), "model.tflite", {});
//   session.bind({x, mask});         // in the order of session.inputs(); the bytes are copied
//   session.run();
//   session.outputs()[0].bytes       // until the next run() or bind()
//
// bind() sets the sizes of dynamic dimensions: the runtime computes the shapes inside of the model when it
// loads it, so inputs of another shape load the model again, with that shape written into it. (LiteRT can
// resize inputs of a loaded model as well, but crashes in the run that follows.)
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "formats/tflite/file/model.h"
#include "runtime/litert/library.h"

namespace ounce::runtime::litert {

using data::TensorView;
using data::ValueDescription;

enum class Kernels {
  kXnnpack,  // where it has one for an operator; those of TFLite for the others
  kBuiltIn,  // those of TFLite alone
};

struct SessionOptions {
  unsigned threads = 1;  // 0: one for each core
  Kernels kernels = Kernels::kXnnpack;
  bool is_profiled = false;
};

// One operator of one run. XNNPACK's operators are its own: it fuses those of the file.
struct OperatorTime {
  std::string name, op;  // "logits", "FULLY_CONNECTED"; "xnnpack 12", "Convolution (NHWC, F32) IGEMM"
  bool is_delegated = false;
  bool is_integer = false;  // it multiplies integers
  double seconds = 0;       // in whole microseconds
};

struct SessionProfile {
  std::uint64_t runs = 0;
  std::uint64_t operators = 0;  // of the file, in its main graph
  std::uint64_t delegated = 0;  // operators among them that XNNPACK runs
  std::vector<OperatorTime> times;
};

class Session {
 public:
  // Throws Error{kBadInput} with the runtime's message, and Error{kUnsupported} for what a model may have and
  // LiteRT's interface cannot give: strings, tensors without elements.
  Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
          const SessionOptions& options);
  // A model that was read from `bytes`, called `name` in errors. The bytes must outlive the session.
  Session(std::shared_ptr<const Library> library, tflite::Model model, std::string_view bytes,
          std::string name, const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Named as the model's signature names them, in the order of the graph.
  const std::vector<ValueDescription>& inputs() const { return inputs_; }
  const std::vector<ValueDescription>& outputs() const { return outputs_; }

  // Throws Error{kBadInput} when a type or a shape is not what the model takes.
  void bind(std::span<const TensorView> inputs);
  void run();
  std::span<const TensorView> results();
  // From another thread: ends the run that goes on, between two operators, and all that follow until
  // resume().
  void stop() noexcept { is_stopped_ = true; }
  void resume() noexcept { is_stopped_ = false; }
  // The times of all runs so far, operator by operator, of a session that profiles; ends profiling.
  SessionProfile end_profile();

  const Library& library() const { return *library_; }

 private:
  struct Loaded;
  void load(std::string_view bytes);
  void load_for(std::span<const TensorView> inputs);
  void compile(std::string_view bytes);
  void add_buffer(const ValueDescription& value, const Layout& layout, BufferRequirements* requirements,
                  bool is_input);
  // With the runtime's message, if it has one and none is given.
  [[noreturn]] void fail(Status status, const char* doing, std::string message = {}) const;

  std::shared_ptr<const Library> library_;
  tflite::Model file_;
  std::string name_,
      rewritten_;  // the file with the shapes of the inputs; empty: the original file is loaded
  SessionOptions options_;
  std::size_t signature_;  // that runs the main graph
  std::unique_ptr<Loaded> loaded_;
  std::vector<ValueDescription> inputs_, outputs_;
  std::vector<TensorView> results_;
  std::uint64_t profiled_runs_ = 0;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace ounce::runtime::litert
