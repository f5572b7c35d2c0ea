#include "plan/weights.h"

#include "onnx/attributes.h"

namespace ounce::plan {
namespace {

using graph::Index;
using graph::kNone;

// Movement ops looked at between a weight and its op: in all, so that no graph, however it fans out, takes long.
constexpr int kLongestSearch = 64;

// What a value is used for, found by following it through movement ops.
struct Role {
  bool is_weight = false;
  bool is_table = false;  // weaker: only cut out of (Slice), not multiplied with
  std::optional<ChannelAxes> channels;
  std::string op_type;
};

Role follow(const Index& index, const graph::Value& value, std::size_t rank, int& steps_left) {
  Role role;
  for (const graph::Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    if (role.op_type.empty()) role.op_type = node.op_type;
    const WeightSlot* slot = find_weight_slot(node, use.input);
    const bool moves = is_movement(node, use.input);
    if (moves && steps_left > 0 && !node.outputs.empty()) {
      --steps_left;
      const auto next = index.find(use.body, node.outputs[0]);
      if (next.value == nullptr) continue;
      // Only these change the rank, and only by one in front of a weight.
      const std::size_t next_rank = node.op_type == "Unsqueeze" ? rank + 1 : node.op_type == "Squeeze" && rank > 0 ? rank - 1 : rank;
      Role beyond = follow(index, *next.value, next_rank, steps_left);
      if (beyond.is_weight) {
        if (beyond.channels) beyond.channels = axes_before(node, *beyond.channels, rank);
        return beyond;
      }
    }
    if (slot == nullptr) continue;
    if (moves) {  // Slice that leads to no weight slot: a table of which a part is used
      if (rank < 2) continue;
      role.is_table = true;
      role.channels = channel_axes(slot->rule, node, rank);
      role.op_type = node.op_type;
      continue;
    }
    return {true, false, channel_axes(slot->rule, node, rank), std::string(node.op_type)};
  }
  return role;
}

void describe(const Index& index, Weight& weight) {
  const std::size_t rank = weight.tensor->dims.size();
  int steps_left = kLongestSearch;
  const Role role = follow(index, *weight.value, rank, steps_left);
  weight.is_weight = (role.is_weight || role.is_table) && rank >= 2;
  weight.channels = role.channels;
  weight.op_type = role.op_type;
  weight.is_looked_up = !weight.value->uses.empty() && !weight.value->is_output;
  for (const graph::Use& use : weight.value->uses) {
    const onnx::Node& node = index.node(use);
    weight.is_looked_up &= rank == 2 && is_row_lookup(node, use.input);
    weight.feeds_quantized_op |= is_quantized_op(node);
  }
}

}  // namespace

const onnx::Tensor* constant_tensor(const onnx::Node& node) {
  if (node.op_type != "Constant" || !onnx::is_default_domain(node.domain)) return nullptr;
  const onnx::Attribute* attribute = onnx::find_attribute(node, "value");
  return attribute != nullptr && attribute->tensors.size() == 1 ? &*attribute->tensors[0] : nullptr;
}

bool is_row_lookup(const onnx::Node& node, std::size_t input) {
  return input == 0 && node.op_type == "Gather" && onnx::is_default_domain(node.domain) &&
         onnx::integer_attribute(node, "axis").value_or(0) == 0;
}

std::vector<Weight> find_weights(const Index& index) {
  std::vector<Weight> weights;
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const graph::Body& body = index.bodies()[id];
    const auto add = [&](Weight weight) {
      if (!onnx::is_float_weight_type(weight.tensor->type)) return;
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
