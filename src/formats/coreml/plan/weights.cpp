#include "formats/coreml/plan/weights.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/cancel.h"
#include "formats/coreml/file/values.h"

namespace ounce::coreml {
namespace {

using model::ChannelAxes;
using model::Role;

// Parameters of operations with weights: the axis of the output channels and the axis that is summed over. -1
// is the last axis, -2 the one before.
struct ParameterRow {
  std::string_view operation, parameter;
  Role role;
  int axis = 0, summed = 1;
};
constexpr auto kParameters = std::to_array<ParameterRow>({
    {"conv", "weight", Role::kWeight, 0},
    {"conv", "bias", Role::kParameter},
    {"conv_transpose", "weight", Role::kWeight, 1, 0},
    {"conv_transpose", "bias", Role::kParameter},
    {"linear", "weight", Role::kWeight, 0},
    {"linear", "bias", Role::kParameter},
    {"matmul", "x", Role::kWeight, -2, -1},
    {"matmul", "y", Role::kWeight, -1, -2},
    {"gather", "x", Role::kTable, 0},
    {"lstm", "weight_ih", Role::kWeight, 0},
    {"lstm", "weight_hh", Role::kWeight, 0},
    {"lstm", "weight_ih_back", Role::kWeight, 0},
    {"lstm", "weight_hh_back", Role::kWeight, 0},
    {"lstm", "bias", Role::kParameter},
    {"lstm", "bias_back", Role::kParameter},
    {"gru", "weight_ih", Role::kWeight, 0},
    {"gru", "weight_hh", Role::kWeight, 0},
    {"gru", "bias", Role::kParameter},
    {"rnn", "weight_ih", Role::kWeight, 0},
    {"rnn", "weight_hh", Role::kWeight, 0},
    {"rnn", "bias", Role::kParameter},
    {"batch_norm", "gamma", Role::kParameter},
    {"batch_norm", "beta", Role::kParameter},
    {"batch_norm", "mean", Role::kParameter},
    {"batch_norm", "variance", Role::kParameter},
    {"instance_norm", "gamma", Role::kParameter},
    {"instance_norm", "beta", Role::kParameter},
    {"layer_norm", "gamma", Role::kParameter},
    {"layer_norm", "beta", Role::kParameter},
    {"prelu", "alpha", Role::kParameter},
});

struct Purpose {
  Role role = Role::kOther;
  std::optional<ChannelAxes> channels;
  std::optional<std::size_t> summed;
  std::size_t taps = 1;
  bool is_lookup = false;
};

// Reads a constant flag of an operation.
bool flag(const CoremlFile& file, model::NodeId node, Bytes parameter) {
  const Operation& operation = file.operation(node);
  const Value* value = bound_value(operation, parameter);
  if (const auto name = bound_name(operation, parameter); value == nullptr && name)
    value = file.constant_named(node, *name);
  return value != nullptr && bool_of(*value).value_or(false);
}

Purpose purpose_of(const CoremlFile& file, model::NodeId node, Bytes parameter,
                   const std::vector<std::int64_t>& dims) {
  Purpose purpose;
  const Operation& operation = file.operation(node);
  const auto* const row = std::find_if(kParameters.begin(), kParameters.end(), [&](const ParameterRow& each) {
    return each.operation == operation.type && each.parameter == parameter;
  });
  if (row == kParameters.end()) return purpose;
  purpose.role = row->role;
  const auto rank = static_cast<int>(dims.size());
  if (row->role == Role::kParameter || rank < 2) return purpose;
  int axis = row->axis < 0 ? rank + row->axis : row->axis;
  int summed = row->summed < 0 ? rank + row->summed : row->summed;
  if (operation.type == "matmul" && flag(file, node, row->parameter == "x" ? "transpose_x" : "transpose_y"))
    std::swap(axis, summed);
  purpose.summed = static_cast<std::size_t>(summed);
  purpose.channels = ChannelAxes{static_cast<std::size_t>(axis), static_cast<std::size_t>(axis) + 1};
  purpose.is_lookup = row->role == Role::kTable && rank == 2;
  if (operation.type.starts_with("conv")) {
    for (std::size_t i = 2; i < dims.size(); ++i) purpose.taps *= static_cast<std::size_t>(dims[i]);
  }
  return purpose;
}

// Operations between a mask and the softmax that it is for.
constexpr std::string_view kBeforeSoftmax[] = {"add", "cast", "expand_dims", "mul", "reshape", "sub"};
constexpr int kFarthestSoftmax = 4;

bool reaches_softmax(const CoremlFile& file, model::NodeId node, int distance = 0) {
  for (const model::ValueId output : file.node(node).outputs) {
    for (const model::NodeId user : file.value(output).users) {
      const std::string_view type = file.node(user).op;
      if (type == "softmax" || type == "scaled_dot_product_attention") return true;
      const bool goes_on =
          std::find(std::begin(kBeforeSoftmax), std::end(kBeforeSoftmax), type) != std::end(kBeforeSoftmax);
      if (goes_on && distance < kFarthestSoftmax && reaches_softmax(file, user, distance + 1)) return true;
    }
  }
  return false;
}

// A table of positions that is added to other embeddings. An attention mask is not one.
std::optional<Purpose> embedding_purpose(const CoremlFile& file, model::NodeId node,
                                         const std::vector<std::int64_t>& dims) {
  constexpr std::int64_t kLeastSize = 8, kLeastValues = 4096;
  const std::size_t rank = dims.size();
  if (file.operation(node).type != "add" || rank < 2) return std::nullopt;
  const std::int64_t rows = dims[rank - 2], columns = dims[rank - 1];
  if (rows < kLeastSize || columns < kLeastSize || rows < kLeastValues / columns) return std::nullopt;
  if (reaches_softmax(file, node)) return std::nullopt;
  Purpose purpose;
  purpose.role = Role::kTable;
  purpose.channels = ChannelAxes{rank - 2, rank - 1};
  purpose.summed = rank - 1;
  return purpose;
}

void describe_use(const CoremlFile& file, model::NodeId node, Bytes name, Weight& weight) {
  for (const auto& input : file.operation(node).inputs) {
    for (const auto& binding : input->argument->bindings) {
      if (!binding->value.empty() || binding->name != name) continue;
      Purpose purpose = purpose_of(file, node, input->name, weight.dims);
      if (const auto table = embedding_purpose(file, node, weight.dims); table) purpose = *table;
      weight.is_looked_up &= purpose.is_lookup;
      if (!weight.op_type.empty() && purpose.role <= weight.role) continue;
      weight.role = purpose.role;
      weight.channels = purpose.channels;
      weight.summed = purpose.summed;
      weight.kernel_taps = purpose.taps;
      weight.op_type = file.operation(node).type;
    }
  }
}

}  // namespace

std::vector<Weight> find_weights(const CoremlFile& file) {
  std::vector<Weight> weights;
  for (std::size_t g = 0; g < file.graphs().size(); ++g) {
    const model::GraphView& graph = file.graphs()[g];
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      count_step();
      const model::ValueView& value = graph.values[i];
      const Operation* const constant = file.constant_operation({g, i});
      if (constant == nullptr || !value.constant || value.constant->dims.empty() ||
          !is_float_weight_type(value.constant->type))
        continue;
      Weight weight;
      weight.graph = g;
      weight.value = {g, i};
      weight.constant = constant;
      weight.is_in_file = constant->attribute("val")->blob.has_value();
      weight.name = value.name;
      weight.type = value.constant->type;
      weight.dims.assign(value.constant->dims.begin(), value.constant->dims.end());
      weight.users = value.users;
      weight.is_used = weight.is_looked_up = !value.users.empty();
      weight.is_output =
          std::find(graph.outputs.begin(), graph.outputs.end(), weight.value) != graph.outputs.end();
      for (const model::NodeId user : value.users) describe_use(file, user, value.name, weight);
      weights.push_back(std::move(weight));
    }
  }
  return weights;
}

std::size_t compressed_weights(const CoremlFile& file) {
  std::size_t count = 0;
  for (const model::GraphView& graph : file.graphs())
    count += static_cast<std::size_t>(
        std::count_if(graph.nodes.begin(), graph.nodes.end(),
                      [](const model::NodeView& node) { return node.op.starts_with("constexpr_"); }));
  return count;
}

plan::Selection::Texts texts_of(const CoremlFile& file, const Weight& weight) {
  plan::Selection::Texts texts = {weight.name};
  for (const model::NodeId user : weight.users) {
    const model::NodeView& node = file.node(user);
    if (!node.name.empty()) texts.push_back(node.name);
    texts.push_back(node.op);
  }
  return texts;
}

}  // namespace ounce::coreml
