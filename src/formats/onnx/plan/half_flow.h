// Follows numbers that 16-bit floats cannot hold through a graph, from where they come up to the op that
// bounds them.
//
//   x ─ Mul(x) ─ ReduceMean ─ Add 1e-8 ─ Sqrt ─┐       squares from the first Mul on, a guard against zero
//   └──────────────────────────────────────── Div ─ y  from the Add on; both end at the Div
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/half_tensors.h"

namespace ounce::plan {

// bfloat16 reaches as far as float32; only integers are too long for it.
enum class HalfRange { kNarrow, kWide };

class HalfFlow {
 public:
  // What is known of a value, as bits.
  enum Kind : unsigned {
    kLarge = 1,        // beyond 65504
    kPower = 2,        // a power or a sum, perhaps beyond
    kTiny = 4,         // keeps something from being divided by zero
    kSteep = 8,        // one over something tiny: large, until it is multiplied with what belongs to it
    kCount = 16,       // made of integers and constants only, and more than 11 bits can hold
    kSmallCount = 32,  // … of integers of 8 bits at most
    kTrouble = kLarge | kPower | kTiny | kSteep,
  };

  HalfFlow(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
           HalfRange range, const calibration::Ranges* ranges);

  // What data showed: values that left the range stay, and of all others it is known that they did not. For
  // the values of masks only what is above counts.
  void add_observed(const std::unordered_set<const graph::Value*>& masks);
  // A constant that does not fit; `name` and its value tell the user where the trouble starts.
  void add_constant(const graph::Value* value, onnx::Bytes name, const HalfTensor& tensor);
  // Follows all that was added.
  void run();

  unsigned kinds(const graph::Value* value) const;
  // Why the numbers at a node want FP32; empty when they do not.
  std::string why_float(std::size_t body, const onnx::Node& node) const;

  // All values that are made of this constant on its way into a Softmax, if it goes nowhere else, as the
  // constants of masks do.
  std::optional<std::unordered_set<const graph::Value*>> mask_of(const graph::Value* value) const;

 private:
  struct Numbers {
    unsigned kinds = 0;
    std::string origin;  // of trouble
  };
  struct Input {
    const graph::Value* value;
    bool is_constant;
    unsigned kinds;
  };
  struct Use {
    std::size_t body, node;
  };

  std::vector<Input> float_inputs(std::size_t body, const onnx::Node& node) const;
  bool is_float(std::size_t body, onnx::Bytes name) const;
  bool is_constant(const graph::Value& value, std::size_t body) const;
  unsigned result_of(std::size_t body, const onnx::Node& node, const std::vector<Input>& inputs) const;
  unsigned count_of(std::size_t body, const onnx::Node& node) const;
  bool grows(const onnx::Node& node, const std::vector<Input>& inputs) const;
  bool may_vanish(std::size_t body, const onnx::Node& node) const;
  void visit(std::size_t body, std::size_t position);
  void add(const graph::Value* value, unsigned kinds, const std::string& origin);
  void note(const graph::Value* value, unsigned kinds, const std::string& origin);

  const onnx::Model& model_;
  const graph::Index& index_;
  const graph::ElementTypes& types_;
  HalfRange range_;
  std::unordered_map<const graph::Value*, Numbers> numbers_;
  struct Observed {
    onnx::Bytes name;
    float low, high;
  };
  std::unordered_map<const graph::Value*, Observed> observed_;
  std::unordered_multimap<const graph::Value*, const graph::Value*> onward_;  // through ports
  void wait_for(Use node);
  std::vector<std::vector<bool>> is_waiting_;  // by body and node
  std::deque<Use> waiting_;                    // nodes to look at
  std::deque<std::pair<const graph::Value*, const graph::Value*>>
      arriving_;  // values, and where they come from
};

}  // namespace ounce::plan
