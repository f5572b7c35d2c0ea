#include "formats/onnx/qat/quantized_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/plan/weights.h"
#include "formats/onnx/qat/constant_subgraphs.h"
#include "formats/onnx/qat/trained_scales.h"

namespace ounce::passes {
namespace {

using graph::kNone;

constexpr std::size_t kLongestReturn = 16;

// The inputs for activations. Other inputs are sizes, states and biases.
std::vector<std::size_t> activation_inputs(const onnx::Node& node, std::size_t weight) {
  if (node.op() == Op::kGather || node.op() == Op::kSlice) return {};
  return {weight == 0 ? std::size_t{1} : std::size_t{0}};
}

class Describing {
 public:
  Describing(const onnx::Model& model, const graph::Index& index)
      : model_(model), index_(index), reader_(model, index) {}

  QuantizedState run() {
    count_nodes();
    if (state_.is_qdq()) find_float_ops();
    state_.sentence = sentence();
    return std::move(state_);
  }

 private:
  void count_nodes() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t, const onnx::Node& node) {
      if (is_quantize(node)) {
        ++state_.quantize_nodes;
        if (reader_.dims(body, input_of(node, 0))) ++state_.uncoded_weights;
      }
      if (is_dequantize(node)) ++state_.dequantize_nodes;
      if (node.info().is_quantized()) ++state_.integer_ops[std::string(node.op_type())];
      if (simulates_quantization(body, node)) ++state_.simulated;
    });
  }

  bool simulates_quantization(std::size_t body, const onnx::Node& node) const {
    if (node.domain() == "onnx.brevitas" || node.domain() == "qonnx.custom_op.general") return true;
    if (node.op() != Op::kRound || node.outputs.size() != 1) return false;
    const graph::Value* input = index_.find(body, input_of(node, 0)).value;
    if (input != nullptr && input->producer != kNone &&
        index_.bodies()[index_.find(body, input_of(node, 0)).body].nodes()[input->producer]->op() ==
            Op::kClip)
      return true;
    const graph::Value* output = index_.find(body, node.outputs[0]).value;
    return output != nullptr && std::any_of(output->uses.begin(), output->uses.end(), [&](const auto& use) {
             return index_.node(use).op() == Op::kClip;
           });
  }

  enum class Origin { kCodedWeight, kCodedActivation, kFloatWeight, kFloats };

  static bool is_weight(const onnx::Tensor& tensor) {
    return is_float_weight_type(tensor.type) && tensor.dims.size() >= 2;
  }

  // The origin of a value through ops that only move it.
  Origin origin_of(std::size_t body, Bytes name) {
    for (std::size_t step = 0; step < kLongestReturn; ++step) {
      const auto [value, home] = index_.find(body, name);
      if (value == nullptr) break;
      // A constant that the caller may override also counts as a weight.
      if (value->initializer != kNone)
        return is_weight(*index_.bodies()[home].graph->initializers[value->initializer])
                   ? Origin::kFloatWeight
                   : Origin::kFloats;
      if (value->producer == kNone) break;
      const onnx::Node& node = *index_.bodies()[home].nodes()[value->producer];
      if (const onnx::Tensor* tensor = plan::constant_tensor(node))
        return is_weight(*tensor) ? Origin::kFloatWeight : Origin::kFloats;
      if (is_dequantize(node)) return coded(codes_a_constant(home, input_of(node, 0)));
      if (!node.info().moves_weight(0) || node.inputs.empty()) break;
      body = home;
      name = node.inputs[0];
    }
    return Origin::kFloats;
  }

  static Origin coded(bool is_weight) { return is_weight ? Origin::kCodedWeight : Origin::kCodedActivation; }

  // True for stored quantized values, and for quantized constants.
  bool codes_a_constant(std::size_t body, Bytes name) {
    for (std::size_t step = 0; step < kLongestReturn; ++step) {
      if (reader_.dims(body, name)) return true;
      const auto [value, home] = index_.find(body, name);
      if (value == nullptr || value->producer == kNone)
        return value != nullptr && value->initializer != kNone;
      const onnx::Node& node = *index_.bodies()[home].nodes()[value->producer];
      if (!is_quantize(node) && node.op() != Op::kClip && !node.info().moves_weight(0)) return false;
      body = home;
      name = input_of(node, 0);
    }
    return false;
  }

  void find_float_ops() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const auto& nodes = index_.bodies()[body].nodes();
      for (std::size_t i = 0; i < nodes.size(); ++i) look_at(body, i);
    }
  }

  void look_at(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    FloatOp op;
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      if (!node.info().weight(input) || node.inputs[input].empty()) continue;
      const Origin origin = origin_of(body, node.inputs[input]);
      if (origin != Origin::kFloatWeight && origin != Origin::kCodedWeight) continue;
      op.has_float_weight |= origin == Origin::kFloatWeight && node.op() != Op::kSlice;
      for (const std::size_t other : activation_inputs(node, input)) {
        if (other < node.inputs.size() && origin_of(body, node.inputs[other]) == Origin::kFloats)
          op.has_float_input = true;
      }
    }
    if (!op.has_float_weight && !op.has_float_input) return;
    const graph::Body& home = index_.bodies()[body];
    op.op_type = node.op_type();
    op.label = graph::node_label(node, position);
    if (!home.path.empty()) op.label += fmt::format(" in {}", home.path);
    state_.float_ops.push_back(std::move(op));
  }

  std::string sentence() const {
    if (state_.is_qoperator()) {
      std::vector<std::string> counts;
      for (const auto& [op_type, count] : state_.integer_ops)
        counts.push_back(fmt::format("{} {}", count, op_type));
      return fmt::format("already quantized with integer ops ({}): nothing is left to do",
                         fmt::join(counts, ", "));
    }
    if (!state_.is_qdq()) return "not quantized";
    const std::string nodes =
        fmt::format("{} QuantizeLinear, {} DequantizeLinear", state_.quantize_nodes, state_.dequantize_nodes);
    const std::size_t count = state_.float_ops.size();
    const std::string rest = count == 0   ? "all ops with weights are quantized"
                             : count == 1 ? "1 op with a weight still runs in FP32"
                                          : fmt::format("{} ops with weights still run in FP32", count);
    return fmt::format("already quantized with its own scales ({}); {}", nodes, rest);
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  QuantizedState state_;
  FrozenReader reader_;
};

}  // namespace

QuantizedState describe_quantization(const onnx::Model& model, const graph::Index& index) {
  return Describing(model, index).run();
}

}  // namespace ounce::passes
