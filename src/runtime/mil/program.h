// Evaluates an ML Program of Core ML on this machine, in binary32.
//
//   Program program(coreml::read_model("net.mlpackage"));
//   program.bind(inputs);                         // in the order of inputs()
//   program.run();
//   for (const data::TensorView& out : program.results()) …
//
// This is not Apple's runtime. It computes what the operations are documented to compute: sums in binary32 or
// wider, and each output rounded to its declared type. The Neural Engine and GPUs accumulate in other orders
// and widths, so their outputs differ in the last bits.
//
// Weights are decompressed when the program is loaded. States start as zeros and keep their values from one
// run to the next.
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

// How long the operations of one type took.
struct OperationTime {
  std::string name, type;
  double seconds = 0;
};

class Program {
 public:
  // Throws Error{kUnsupported} that names every operation it cannot evaluate, and for a model that is no ML
  // Program; Error{kBadInput} for a program whose parts do not fit.
  explicit Program(coreml::Model model, bool is_profiled = false);

  const std::vector<data::ValueDescription>& inputs() const { return inputs_; }
  const std::vector<data::ValueDescription>& outputs() const { return outputs_; }

  // Throws Error{kBadInput} when a type or a shape is not what the program takes.
  void bind(std::span<const data::TensorView> inputs);
  // Throws Error{kBadInput} that names the operation, and Error{kCancelled} after stop().
  void run();
  std::span<const data::TensorView> results() const { return views_; }
  void stop() noexcept { is_stopped_ = true; }

  const std::vector<OperationTime>& times() const { return times_; }  // of all runs, if profiled
  std::uint64_t runs() const { return runs_; }

 private:
  struct Operand {
    std::string name;   // of a value …
    ArrayPtr constant;  // … or the value
  };
  struct Step {
    std::string type, name;
    Function function = nullptr;  // null: control flow and states
    std::map<std::string, std::vector<Operand>, std::less<>> inputs;
    std::vector<std::string> outputs;
    std::vector<ElementType> types;
    std::vector<std::size_t> blocks;     // of blocks_
    std::vector<std::string> last_uses;  // names that no later step of the block needs
    std::size_t time = 0;                // of times_
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

// Between arrays and tensors of the rest of the program.
Array array_of(const data::TensorView& view);
data::Tensor tensor_of(const Array& array);

}  // namespace ounce::mil
