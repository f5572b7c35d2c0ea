#include "formats/onnx/plan/weights.h"

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {
namespace {

using graph::Index;
using graph::kNone;

// What a value is used for.
struct Purpose {
  Role role = Role::kOther;
  std::optional<ChannelRule> rule;
  std::optional<ChannelAxes> channels;
  Op op = Op::kUnknown;
  std::string op_type;
};

Purpose purpose_of(const Index& index, const graph::Use& use, std::size_t rank, int& steps_left);

Purpose purpose_of(const Index& index, const graph::Value& value, std::size_t rank, int& steps_left) {
  Purpose strongest;
  for (const graph::Use& use : value.uses) {
    Purpose purpose = purpose_of(index, use, rank, steps_left);
    if (strongest.op_type.empty() || purpose.role > strongest.role) strongest = std::move(purpose);
    if (strongest.role == Role::kWeight) break;
  }
  return strongest;
}

// The Add behind a MatMul, which has no bias of its own.
bool is_bias_of_matmul(const Index& index, const graph::Use& use, std::size_t rank) {
  const onnx::Node& node = index.node(use);
  if (node.op() != Op::kAdd || node.inputs.size() != 2 || rank != 1) return false;
  const auto other = index.find(use.body, node.inputs[1 - use.input]);
  if (other.value == nullptr || other.value->producer == kNone) return false;
  return index.bodies()[other.body].nodes()[other.value->producer]->op() == Op::kMatMul;
}

Purpose purpose_of(const Index& index, const graph::Use& use, std::size_t rank, int& steps_left) {
  const onnx::Node& node = index.node(use);
  const auto rule = node.info().weight(use.input);
  Purpose purpose;
  purpose.op = node.op();
  purpose.op_type = node.op_type();
  if (node.info().role(use.input) == ops::Role::kParameter || is_bias_of_matmul(index, use, rank))
    purpose.role = Role::kParameter;
  if (rule && rank >= 2) {
    purpose.rule = rule;
    purpose.channels = channel_axes(*rule, node, rank);
    purpose.role = node.info().moves_weight(use.input) ? Role::kTable : Role::kWeight;
  }
  if (!node.info().moves_weight(use.input) || node.outputs.empty() || steps_left-- <= 0) return purpose;
  const auto next = index.find(use.body, node.outputs[0]);
  if (next.value == nullptr) return purpose;
  // Only these change the rank, and only by one in front of a weight.
  const std::size_t next_rank = node.op() == Op::kUnsqueeze             ? rank + 1
                                : node.op() == Op::kSqueeze && rank > 0 ? rank - 1
                                                                        : rank;
  Purpose beyond = purpose_of(index, *next.value, next_rank, steps_left);
  if (beyond.role <= purpose.role) return purpose;
  if (beyond.channels) beyond.channels = axes_before(node, *beyond.channels, rank);
  return beyond;
}

void describe(const Index& index, Weight& weight) {
  const std::size_t rank = weight.tensor->dims.size();
  int steps_left = kLongestSearch;
  const Purpose purpose = purpose_of(index, *weight.value, rank, steps_left);
  weight.role = purpose.role;
  if (weight.fits_nbits() && rank < 2) weight.role = Role::kOther;
  weight.channels = purpose.channels;
  weight.op = purpose.op;
  weight.op_type = purpose.op_type;
  if (purpose.rule && weight.role == Role::kWeight)
    weight.kernel_taps = kernel_taps(*purpose.rule, weight.tensor->dims);
  weight.is_looked_up = rank == 2 && !weight.value->uses.empty() && !weight.value->is_output;
  for (const graph::Use& use : weight.value->uses) {
    const onnx::Node& node = index.node(use);
    weight.is_looked_up &= is_row_lookup(node, use.input);
    weight.is_moved |= node.info().moves_weight(use.input);
    weight.feeds_quantized_op |= node.info().is_quantized_or_converts();
  }
}

}  // namespace

bool is_row_lookup(const onnx::Node& node, std::size_t input) {
  if (input != 0 || node.op() != Op::kGather) return false;
  const bool is_whole = node.inputs.size() == 2 && !node.inputs[1].empty() && node.outputs.size() == 1 &&
                        !node.outputs[0].empty();
  // An axis that a function takes from its caller has no value here.
  const bool has_axis = onnx::find_attribute(node, "axis") != nullptr;
  return is_whole && (!has_axis || onnx::integer_attribute(node, "axis") == 0);
}

std::vector<Weight> find_weights(const Index& index) {
  std::vector<Weight> weights;
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const graph::Body& body = index.bodies()[id];
    const auto add = [&](Weight weight) {
      if (!is_float_weight_type(weight.tensor->type)) return;
      weight.body = id;
      weight.value = &body.values.find(weight.name)->second;
      describe(index, weight);
      weights.push_back(std::move(weight));
    };
    if (body.graph != nullptr) {
      for (std::size_t i = 0; i < body.graph->initializers.size(); ++i) {
        const onnx::Tensor& tensor = *body.graph->initializers[i];
        Weight weight;
        weight.initializer = i;
        weight.name = tensor.name;
        weight.tensor = &tensor;
        add(std::move(weight));
      }
    }
    for (std::size_t i = 0; i < body.nodes().size(); ++i) {
      const onnx::Node& node = *body.nodes()[i];
      const onnx::Tensor* tensor = constant_tensor(node);
      if (tensor == nullptr || node.outputs.empty() || node.outputs[0].empty()) continue;
      Weight weight;
      weight.constant = i;
      weight.name = node.outputs[0];
      weight.tensor = tensor;
      add(std::move(weight));
    }
  }
  return weights;
}

}  // namespace ounce::plan
