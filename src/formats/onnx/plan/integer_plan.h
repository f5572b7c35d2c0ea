// Which nodes of a model compute on integers, which values are codes, and why the rest stays in floats.
//
//   x ─ Conv ─ Relu ─ Conv ─ y        codes of: x, the Relu's output, y; the Relu itself is gone, as its
//                                     output's codes end at zero
//
// Nodes with weights are the seeds. Ops between them follow when all they get are codes that an integer op
// makes, and when an integer op wants what they give: Q/DQ anywhere else would cost time and bits for
// nothing. Beside codes they may take single numbers. A product with a number is no work at all, only another
// scale for the same codes:
//
//   x ─ Conv ─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─ …        the Mul is gone, too; the Add computes, and its
//                                                          codes end where the Clip ends
//
// Nodes of a static plan may be asked to be dynamic: they take floats, as all that the static plan does not
// speak of.
#pragma once

#include <ounce/outcome.h>
#include <ounce/recipe.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/plan/weights.h"
#include "ounce/recipe.h"
#include "plan/encodings.h"

namespace ounce::plan {

using ounce::Arithmetic;

struct NodeDecision {
  std::size_t body = 0, node = 0;
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string reason;

  // Of nodes that compute on integers.
  const IntegerForm* op = nullptr;
  onnx::Bytes output;                   // the value that the node gives: its own, or that of …
  std::size_t absorbed = graph::kNone;  // … a Relu or Clip behind it, which its codes' limits replace
  bool gives_codes = false;
  // Mul by a positive number or Add of a negative one: the output has the same codes as the input and another
  // scale or zero point. The node computes nothing.
  bool is_rescale_only = false;
  // What the rescaling node behind this one adds. The scale is chosen so that this is a whole number of
  // steps, by which the zero point is shifted.
  double zero_shift = 0;

  bool is_integer() const { return arithmetic != Arithmetic::kFloat; }
};

using ValueKey = std::pair<std::size_t, onnx::Bytes>;  // the body that defines it, and its name

// A scalar constant that an INT8 node adds or multiplies with: exactly one step of a scale of its own.
struct ScalarOperand {
  ActivationQuantization quantization;
  std::int32_t code = 1;
};

// An input or output of the model that is integers in the new one: a code c stands for (c - zero) * scale.
struct IntegerPort {
  ValueKey value;
  bool is_input = false;
  ElementType type = ElementType::kUint8;
  std::vector<float> scales, zeros;  // one for all, or one for each channel (the second axis)
  bool is_raw = false;               // these are the bytes that the contract's preprocessing starts from …
  bool is_activation = true;         // … and the codes of the value; otherwise they are made floats first
};

struct IntegerPlan {
  std::vector<NodeDecision> nodes;                         // in the order of the file
  std::map<ValueKey, ActivationQuantization> activations;  // static ones
  std::map<ValueKey, std::size_t> weights;  // constants that integer nodes multiply with: their (first) node
  std::map<ValueKey, std::size_t> biases;   // … and add

  std::map<ValueKey, ScalarOperand> numbers;  // scalar constants of INT8 nodes

  std::vector<IntegerPort> ports;

  std::string text() const;  // a line a node, a line an activation
};

// What calibration has to look at: the values that a static plan may want ranges of. And why ops with weights
// will stay in floats whatever their ranges are.
struct StaticNeeds {
  std::set<ValueKey> values;
  std::vector<std::string> why_float;
};
StaticNeeds static_needs(const onnx::Model& model, const graph::Index& index);

// `ranges` are needed for static arithmetic. Throws Error{kUsage} for dynamic nodes in a model that comes
// with static scales and has none.
IntegerPlan make_integer_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                              const std::vector<Weight>& weights, const calibration::Ranges* ranges,
                              const NodeOverrides& overrides, Selection& selection);

// Values that must have one type because they enter and leave bodies: the states of a Loop, what both
// branches of an If give, the outputs of a function at all its calls.

// The first of a class stands for it.
class PortClasses {
 public:
  explicit PortClasses(const graph::Index& index) {
    for (const graph::Passage& passage : graph::passages(index)) {
      const graph::Value* to = index.find(passage.to.body, passage.to.name).value;
      if (to == nullptr) continue;
      const std::size_t at = number(to);
      if (passage.way == graph::Way::kEnters) continue;
      const Slot slot{passage.from.body, passage.from.name};
      const auto [entry, is_new] = slots_.emplace(slot, at);
      if (!is_new) join(entry->second, at);
    }
  }

  using Slot = std::pair<std::size_t, graph::Bytes>;  // an output of a body, by the name of its value
  const std::map<Slot, std::size_t>& slots() const { return slots_; }

  // graph::kNone for values that are in no class.
  std::size_t class_of(const graph::Value* value) const {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? graph::kNone : class_of(found->second);
  }
  std::size_t class_of(std::size_t at) const {
    while (nearer_[at] != at) at = nearer_[at] = nearer_[nearer_[at]];
    return at;
  }
  const std::unordered_map<const graph::Value*, std::size_t>& members() const { return numbers_; }

 private:
  std::size_t number(const graph::Value* value) {
    const auto [entry, is_new] = numbers_.emplace(value, nearer_.size());
    if (is_new) nearer_.push_back(entry->second);
    return entry->second;
  }
  void join(std::size_t a, std::size_t b) { nearer_[class_of(b)] = class_of(a); }

  std::unordered_map<const graph::Value*, std::size_t> numbers_;
  std::map<Slot, std::size_t> slots_;
  mutable std::vector<std::size_t> nearer_;
};

// What a static plan can leave to floats so that it makes less noise, and what time that takes: the choices
// that a search has (integer_costs.h says how they come about).

// The assignments of nodes to FP32 among which a search chooses: less noise for more time (integer_costs.h).
struct FloatAssignment {
  std::set<std::string> floats;  // nodes with weights, by the path of what they give
  double time = 0;               // nanoseconds for a sample, of all that could compute on integers
};

// From the fastest assignment to the one with all nodes in FP32; each has more nodes in FP32 than those
// before it. `noise` is the noise that nodes bring to the outputs in INT8, by the path of their output. An
// infinite noise keeps its node in FP32, and so does an override of the recipe. Times are those of x86, also
// for processors that were not measured.
std::vector<FloatAssignment> float_assignments(const onnx::Model& model, const graph::Index& index,
                                               const Recipe& recipe, const calibration::Ranges& ranges,
                                               const std::map<std::string, double>& noise);

}  // namespace ounce::plan
