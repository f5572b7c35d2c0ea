// Decides which nodes run in INT8, which values are quantized, and why the rest is kept in FP32.
//
//   x ─ Conv ─ Relu ─ Conv ─ y        quantized: x, the output of Relu, and y; the Relu itself is removed,
//                                     because the range of its quantized output starts at zero
//
// Planning starts from nodes with weights. An op between them follows if all its inputs are quantized values
// of integer ops and an integer op uses its output; Q/DQ pairs anywhere else would only cost time and
// accuracy. Such ops may also take scalar operands. A multiplication by a scalar costs nothing: it only
// changes the scale of the quantized values.
//
//   x ─ Conv ─ Mul(1/6) ─ Add(1/2) ─ Clip(0, 1) ─ …        the Mul is removed, too; the Add computes, and the
//                                                          range of its output is that of the Clip
//
// Nodes of a static plan may be overridden to be dynamic. They take FP32 inputs, like all nodes that the
// static plan does not cover.
#pragma once

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

  // For nodes that run in INT8.
  const IntegerForm* op = nullptr;
  onnx::Bytes output;                   // the output value of the node, or of the absorbed node
  std::size_t absorbed = graph::kNone;  // a following Relu or Clip, replaced by the quantization range
  bool gives_codes = false;
  // Mul by a positive scalar or Add of a negative one: the output has the same quantized values as the input
  // with another scale or zero point. The node is removed.
  bool is_rescale_only = false;
  // The amount that a following rescale-only node adds. The scale is chosen so that this is a whole number of
  // steps, by which the zero point shifts.
  double zero_shift = 0;

  bool is_integer() const { return arithmetic != Arithmetic::kFloat; }
};

using ValueKey = std::pair<std::size_t, onnx::Bytes>;  // the defining body, and the name

// A scalar constant that an INT8 node adds or multiplies by: one step of its own scale.
struct ScalarOperand {
  ActivationQuantization quantization;
  std::int32_t code = 1;
};

// A quantized input or output of the new model: a value q represents (q - zero) * scale.
struct IntegerPort {
  ValueKey value;
  bool is_input = false;
  ElementType type = ElementType::kUint8;
  std::vector<float> scales, zeros;  // per-tensor, or per-channel (second axis)
  bool is_raw = false;               // the bytes before the preprocessing in the model's metadata
  bool is_activation = true;         // directly the quantized values; otherwise dequantized first
};

struct IntegerPlan {
  std::vector<NodeDecision> nodes;                         // in file order
  std::map<ValueKey, ActivationQuantization> activations;  // static ones
  std::map<ValueKey, std::size_t> weights;  // constants that integer nodes multiply by: their (first) node
  std::map<ValueKey, std::size_t> biases;   // constants that they add

  std::map<ValueKey, ScalarOperand> numbers;  // scalar constants of INT8 nodes

  std::vector<IntegerPort> ports;

  std::string text() const;  // one line per node and per activation
};

// The values that calibration must observe, because a static plan may need their ranges, and the reasons for
// ops with weights that are kept in FP32 whatever their ranges are.
struct StaticNeeds {
  std::set<ValueKey> values;
  std::vector<std::string> why_float;
};
StaticNeeds static_needs(const onnx::Model& model, const graph::Index& index);

// Static quantization needs `ranges`. Throws Error{kUsage} if the recipe has dynamic nodes but the model has
// static scales and there are no ranges.
IntegerPlan make_integer_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                              const std::vector<Weight>& weights, const calibration::Ranges* ranges,
                              const NodeOverrides& overrides, Selection& selection);

// Groups values that must have the same type because they cross body borders: loop states, the outputs of
// both branches of an If, the outputs of a function at all its calls.

// The first value represents its class.
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

  // graph::kNone for values that are not in a class.
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

// The options for keeping nodes of a static plan in FP32, with the time that each one costs
// (integer_costs.h).

// An assignment of nodes to FP32 that a search can choose: less noise for more time (integer_costs.h).
struct FloatAssignment {
  std::set<std::string> floats;  // nodes with weights, by the path of their output
  double time = 0;               // nanoseconds per sample, of all nodes that could run in INT8
};

// Returns assignments from the fastest one to the one with all nodes in FP32; the FP32 nodes of each include
// those of the previous one. `noise` is the noise that a node adds to the outputs in INT8, by the path of its
// output. Nodes with infinite noise, and nodes that the recipe overrides to FP32, are always in FP32. Times
// are those of x86, also for processors that were not measured.
std::vector<FloatAssignment> float_assignments(const onnx::Model& model, const graph::Index& index,
                                               const Recipe& recipe, const calibration::Ranges& ranges,
                                               const std::map<std::string, double>& noise);

}  // namespace ounce::plan
