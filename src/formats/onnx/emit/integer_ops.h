// Applies the integer part of a plan: rewrites nodes to run in INT8.
//
// static, Q/DQ:
//
//   x ─ Conv ─ Relu ─ y      →      x ─ Q ─ DQ ─ Conv ─ Q ─ DQ ─ y
//
//   One QuantizeLinear quantizes each value. Every integer op has a DequantizeLinear of its own, and all FP32
//   users share another, so that runtimes recognize each op and fuse it.
//
// static, QOperator:
//
//   x ─ Conv ─ Relu ─ y      →      x ─ Q ─ QLinearConv ─ DQ ─ y
//
// dynamic:
//
//   x ─ MatMul ─ y           →      x ─ DynamicQuantizeLinear ─ MatMulInteger ─ Cast ─ Mul ─ y
//                                                    scale ─ Mul(weight's scales) ──────┘
//
// A static plan may contain dynamic nodes. They read FP32 values, after a DequantizeLinear if necessary.
//
// Values that FP32 nodes read keep their names, so those nodes do not change.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::passes {

// `index` must be the editors' index; `stored` is the result of store_weights().
void put_integer_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored);

// The weights and biases of integer ops as stored by store_weights(): quantized values and scales, without
// nodes that dequantize them.

struct Parameter {
  const plan::Decision* decision = nullptr;
  Bytes codes;
  Bytes scales;  // in FP32; empty for biases

  bool has_zeros() const { return decision->format.zero != 0; }
};

class IntegerParameters {
 public:
  IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    const std::vector<Stored>& stored);

  // The parameter that `name` refers to in a body; null if it is no such weight or bias.
  const Parameter* find(std::size_t body, Bytes name) const;
  const std::map<plan::ValueKey, Parameter>& all() const { return parameters_; }
  // Adds the zero points of a weight: one for each scale, or a single one for all.
  enum class Zeros { kLikeScales, kSingle };
  Bytes zeros(std::size_t body, const Parameter& weight, Zeros how = Zeros::kLikeScales);
  // The position for nodes that dequantize the parameter, before all nodes that use it.
  static std::size_t place(const plan::Decision& decision);

 private:
  Editors& editors_;
  const graph::Index& index_;
  std::map<plan::ValueKey, Parameter> parameters_;
};

// Predict, before a plan exists, which values will be quantized. A rewrite into INT8-capable ops is useful
// only between ops that produce quantized values and ops that consume them.
//
//   … ─ Conv ─ HardSwish ─ Mul(·, gate) ─ Conv ─ …          the HardSwish is between integer ops
//   … ─ Conv ─ Tanh ─ output of the model                   the Tanh is not

bool comes_from_codes(const graph::Index& index, std::size_t body, onnx::Bytes name);
bool leads_to_integers(const graph::Index& index, std::size_t body, onnx::Bytes name);

// True if both apply; for a node with one output.
bool stands_between_integers(const graph::Index& index, std::size_t body, const onnx::Node& node);

// The quantized activations of a plan. Each is quantized once, where it is produced, and dequantized for FP32
// users.

class QuantizedValues {
 public:
  // Adds a QuantizeLinear for all values of the plan that are produced in FP32, and a DequantizeLinear for
  // quantized values that FP32 nodes use. `makes_codes`: integer nodes output quantized values (QOperator)
  // instead of FP32 values followed by a QuantizeLinear (QDQ).
  QuantizedValues(Editors& editors, const graph::Index& index, const plan::IntegerPlan& plan,
                  bool makes_codes = false);

  // The name for the FP32 output of an integer node.
  Bytes floats_behind(const plan::NodeDecision& decision) const;
  Bytes codes(std::size_t body, Bytes name) const;
  // Adds a DequantizeLinear for the node at `place` alone.
  Bytes decode(std::size_t body, Bytes name, std::size_t place);

  // A scalar operand of an integer op: its quantized value, and a DequantizeLinear of it for the node at
  // `place`. number() returns null for other values.
  const plan::ScalarOperand* number(std::size_t body, Bytes name) const;
  Bytes codes(std::size_t body, Bytes name, const plan::ScalarOperand& number);
  Bytes decode(std::size_t body, Bytes name, const plan::ScalarOperand& number, std::size_t place);

  // The scale and the zero point of a value, as constants.
  Bytes scale(std::size_t body, const plan::ActivationQuantization& quantization);
  Bytes zero(std::size_t body, const plan::ActivationQuantization& quantization);
  const plan::ActivationQuantization& quantization(std::size_t body, Bytes name) const;

 private:
  struct Coded {
    const plan::ActivationQuantization* quantization = nullptr;
    Bytes codes, floats;
    std::size_t maker = graph::kNone;  // the integer node that gives it
    Coded* read_from = nullptr;        // the value whose quantized values are reused with another scale
  };
  plan::ValueKey key_of(std::size_t body, Bytes name) const;
  bool has_float_uses(const plan::ValueKey& key) const;
  void add_coding(const plan::ValueKey& key, Coded& coded, bool makes_codes);
  void add_reading(const plan::ValueKey& key, Coded& coded);
  Bytes floats_of_raw(const plan::IntegerPort& port);
  void add(std::size_t body, std::size_t place, Op op, Bytes from,
           const plan::ActivationQuantization& quantization, Bytes to);

  Editors& editors_;
  const graph::Index& index_;
  const plan::IntegerPlan& plan_;
  std::map<plan::ValueKey, const plan::IntegerPort*> ports_;
  std::map<plan::ValueKey, Coded> values_;
  std::map<std::pair<std::size_t, std::size_t>, const plan::NodeDecision*> integer_nodes_;
};

// Declares the new types (integers or 16-bit floats) of a model's inputs and outputs, and records in the
// metadata how to convert them (formats/onnx/view/onnx_file.h reads it):
//
//   ounce.io = {"inputs": {"x": {"type": "uint8", "scale": [0.0078125], "zero_point": [127], "raw": true}},
//               "outputs": {"y": {"type": "uint8", "scale": [0.047], "zero_point": [128], "raw": false}}}
//
// A quantized value q represents (q - zero_point) * scale; several scales belong to the channels of the
// second axis. 16-bit floats have no scale. `raw` inputs are the bytes before the preprocessing (rescaling,
// mean and standard deviation) that the metadata describes.

// `ports` must belong to an index whose model outlives this call.
void declare_ports(onnx::Model& model, const std::vector<plan::IntegerPort>& ports);

}  // namespace ounce::passes
