// Carries out the part of a plan that says which nodes compute on integers.
//
// static, Q/DQ:
//
//   x ─ Conv ─ Relu ─ y      →      x ─ Q ─ DQ ─ Conv ─ Q ─ DQ ─ y
//
//   One QuantizeLinear makes the codes of a value, every integer op that takes them has a DequantizeLinear of
//   its own, and another serves all that compute on floats: so runtimes recognise each op and fuse it.
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
// A static plan may have dynamic nodes: what they read are floats, from a DequantizeLinear if need be.
//
// Values that floats are read from keep their names, so that the rest of the model stays as it is.
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

// `index` is the editors'; `stored` what store_weights() gave.
void put_integer_ops(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                     const std::vector<Stored>& stored);

// The weights and biases of integer ops as store_weights() left them: codes and scales that nobody decodes
// yet.

struct Parameter {
  const plan::Decision* decision = nullptr;
  Bytes codes;
  Bytes scales;  // as floats; empty for biases

  bool has_zeros() const { return decision->format.zero != 0; }
};

class IntegerParameters {
 public:
  IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    const std::vector<Stored>& stored);

  // The constant that `name` means in a body; null when it is none of ours.
  const Parameter* find(std::size_t body, Bytes name) const;
  const std::map<plan::ValueKey, Parameter>& all() const { return parameters_; }
  // The zeros of a weight's codes: one for each of its scales, or a single one for all.
  enum class Zeros { kLikeScales, kSingle };
  Bytes zeros(std::size_t body, const Parameter& weight, Zeros how = Zeros::kLikeScales);
  // Where nodes that decode it go: they stand before all that use it.
  static std::size_t place(const plan::Decision& decision);

 private:
  Editors& editors_;
  const graph::Index& index_;
  std::map<plan::ValueKey, Parameter> parameters_;
};

// Where integer arithmetic comes from and where it leads to, before there is a plan: a rewrite for integers
// is worth something only between ops that give codes and ops that want them.
//
//   … ─ Conv ─ HardSwish ─ Mul(·, gate) ─ Conv ─ …          the HardSwish stands between
//   … ─ Conv ─ Tanh ─ output of the model                   the Tanh does not

bool comes_from_codes(const graph::Index& index, std::size_t body, onnx::Bytes name);
bool leads_to_integers(const graph::Index& index, std::size_t body, onnx::Bytes name);

// Both, for a node with one output.
bool stands_between_integers(const graph::Index& index, std::size_t body, const onnx::Node& node);

// The activations of a plan as codes: each is coded once, where it comes from, and decoded for those who want
// floats.

class QuantizedValues {
 public:
  // Adds QuantizeLinear for all values of the plan that do not come as codes, and DequantizeLinear where
  // floats are wanted of values that do. `makes_codes`: integer nodes give codes (QOperator), rather than
  // floats that are then coded (Q/DQ).
  QuantizedValues(Editors& editors, const graph::Index& index, const plan::IntegerPlan& plan,
                  bool makes_codes = false);

  // What a node that gives codes is to call its output.
  Bytes floats_behind(const plan::NodeDecision& decision) const;
  Bytes codes(std::size_t body, Bytes name) const;
  // Floats for the node at `place` alone.
  Bytes decode(std::size_t body, Bytes name, std::size_t place);

  // The codes of a single number that is taken beside codes, and floats of them for the node at `place`;
  // nothing for other values.
  const plan::ScalarOperand* number(std::size_t body, Bytes name) const;
  Bytes codes(std::size_t body, Bytes name, const plan::ScalarOperand& number);
  Bytes decode(std::size_t body, Bytes name, const plan::ScalarOperand& number, std::size_t place);

  // The scale and the zero of a value, as constants.
  Bytes scale(std::size_t body, const plan::ActivationQuantization& quantization);
  Bytes zero(std::size_t body, const plan::ActivationQuantization& quantization);
  const plan::ActivationQuantization& quantization(std::size_t body, Bytes name) const;

 private:
  struct Coded {
    const plan::ActivationQuantization* quantization = nullptr;
    Bytes codes, floats;
    std::size_t maker = graph::kNone;  // the integer node that gives it
    Coded* read_from = nullptr;        // whose codes these are, read otherwise
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

// Declares inputs and outputs of a model as the integers or 16-bit floats they have become, and records in
// its metadata what they stand for (formats/onnx/view/onnx_file.h reads it):
//
//   ounce.io = {"inputs": {"x": {"type": "uint8", "scale": [0.0078125], "zero_point": [127], "raw": true}},
//               "outputs": {"y": {"type": "uint8", "scale": [0.047], "zero_point": [128], "raw": false}}}
//
// A code c stands for (c - zero_point) * scale, channel by channel of the second axis where there are
// several; a 16-bit float stands for itself. Raw inputs are the bytes that the contract's rescaling, means
// and deviations would be applied to.

// `ports` belong to an index whose model outlives this call.
void declare_ports(onnx::Model& model, const std::vector<plan::IntegerPort>& ports);

}  // namespace ounce::passes
