// Evaluates a Core ML ML Program on any machine, in FP32.
//
//   Program program(coreml::read_model("net.mlpackage"));
//   program.bind(inputs);                         // in the order of inputs()
//   program.run();
//   std::span<const data::TensorView> outputs = program.results();
//
// This is not Apple's runtime. It follows the documentation of the operations, with sums in binary32 or
// wider, and rounds each output to its declared type. The Neural Engine and GPUs accumulate in other orders
// and precisions, so their outputs differ slightly.
//
// Weights are decompressed when the program is loaded. States start as zeros and keep their values between
// runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "formats/coreml/file/model.h"
#include "runtime/mil/array.h"
#include "runtime/mil/call.h"

namespace ounce::mil {

// The time of one operation, summed over all runs.
struct OperationTime {
  std::string name, type;
  double seconds = 0;
};

class Program {
 public:
  // Throws Error{kUnsupported} for a model that is not an ML Program, or with the names of all unsupported
  // operations; Error{kBadInput} for an inconsistent program.
  explicit Program(coreml::Model model, bool is_profiled = false);

  const std::vector<data::ValueDescription>& inputs() const { return inputs_; }
  const std::vector<data::ValueDescription>& outputs() const { return outputs_; }

  // Sets the inputs. Throws Error{kBadInput} if a type or a shape does not match the program.
  void bind(std::span<const data::TensorView> inputs);
  // Throws Error{kBadInput} with the name of the operation, or Error{kCancelled} after stop().
  void run();
  std::span<const data::TensorView> results() const { return views_; }
  void stop() noexcept { is_stopped_ = true; }

  const std::vector<OperationTime>& times() const { return times_; }  // over all runs, if profiled
  std::uint64_t runs() const { return runs_; }

 private:
  struct Operand {
    std::string name;   // of a computed value, or
    ArrayPtr constant;  // a constant value
  };
  struct Step {
    std::string type, name;
    Function function = nullptr;  // null: control flow and states
    std::map<std::string, std::vector<Operand>, std::less<>> inputs;
    std::vector<std::string> outputs;
    std::vector<ElementType> types;
    std::vector<std::size_t> blocks;     // indices into blocks_
    std::vector<std::string> last_uses;  // values that no later step of the block needs
    std::size_t time = 0;                // index into times_
  };
  struct Body {
    std::vector<std::string> inputs, outputs;
    std::vector<Step> steps;
  };
  using Values = std::map<std::string, ArrayPtr, std::less<>>;

  std::size_t add_body(const coreml::Block& block, int depth);
  Step step_of(const coreml::Operation& operation, int depth);
  void describe(const coreml::Function& function, const coreml::Block& block);
  void require_supported(const coreml::Block& block) const;
  void fold_constants(Body& body);
  void find_last_uses(Body& body) const;

  ArrayPtr value_of(const Operand& operand, const Values& values) const;
  Call call_of(const Step& step, const Values& values) const;
  std::vector<ArrayPtr> evaluate(const Step& step, Values& values);
  std::vector<ArrayPtr> evaluate_flow(const Step& step, const Call& call, Values& values);
  std::vector<ArrayPtr> evaluate_body(const Body& body, Values& values);

  coreml::Model model_;
  bool is_profiled_;
  std::vector<data::ValueDescription> inputs_, outputs_;
  std::map<std::string, data::ValueDescription> state_types_;
  std::vector<Body> blocks_;
  std::size_t main_ = 0;
  Values constants_, bound_, states_;
  std::vector<data::Tensor> tensors_;
  std::vector<data::TensorView> views_;
  std::vector<OperationTime> times_;
  std::uint64_t runs_ = 0;
  std::atomic<bool> is_stopped_ = false;
};

// Convert between arrays and tensors.
Array array_of(const data::TensorView& view);
data::Tensor tensor_of(const Array& array);

}  // namespace ounce::mil
