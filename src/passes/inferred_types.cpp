#include "passes/inferred_types.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/attributes.h"
#include "onnx/types.h"
#include "plan/weights.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using onnx::Bytes;
using onnx::ElementType;

// Which inputs and outputs of an op have one type, as bits; in every version of the op.
struct Alike {
  std::string_view op_type;
  std::uint32_t inputs, outputs;
};
constexpr std::uint32_t kAll = 0xffffffffU;

constexpr auto kAlike = std::to_array<Alike>({
    {"Pad", 0b101, 1},
    {"ScatterElements", 0b101, 1},
    {"ScatterND", 0b101, 1},
    {"Split", 1, kAll},
    {"Where", 0b110, 1},
    {"GRU", 0b101111, kAll},  // all but the lengths of sequences
    {"LSTM", 0b11101111, kAll},
    {"RNN", 0b101111, kAll},
});

constexpr auto kAllAlike = std::to_array<std::string_view>({
    "Abs",
    "Add",
    "AveragePool",
    "Celu",
    "Clip",
    "Concat",
    "Conv",
    "ConvTranspose",
    "Div",
    "Einsum",
    "Elu",
    "Erf",
    "Exp",
    "Flatten",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "InstanceNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "MatMul",
    "Max",
    "Mean",
    "Min",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Reciprocal",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Sub",
    "Sum",
    "Tanh",
    "Transpose",
});

// The first input and the first output; the others say where, how far, how often.
constexpr auto kFirstAlike = std::to_array<std::string_view>({
    "BatchNormalization",
    "CumSum",
    "DepthToSpace",
    "Dropout",
    "Expand",
    "Gather",
    "GatherElements",
    "GatherND",
    "GroupNormalization",
    "LayerNormalization",
    "MaxPool",
    "Pow",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "Reshape",
    "Resize",
    "Slice",
    "SpaceToDepth",
    "Squeeze",
    "Tile",
    "Unsqueeze",
    "Upsample",
});

template <class List>
bool has(const List& list, Bytes op_type) {
  return std::find(list.begin(), list.end(), op_type) != list.end();
}

std::optional<Alike> find_alike(Bytes op_type) {
  if (has(kAllAlike, op_type)) return Alike{op_type, kAll, kAll};
  if (has(kFirstAlike, op_type)) return Alike{op_type, 1, 1};
  const auto found = std::find_if(kAlike.begin(), kAlike.end(),
                                  [&](const Alike& alike) { return alike.op_type == op_type; });
  return found == kAlike.end() ? std::nullopt : std::optional(*found);
}

bool has_bit(std::uint32_t bits, std::size_t i) { return bits == kAll || (i < 32 && (bits >> i & 1U) != 0); }

// The type that a node gives by itself, whatever it takes.
ElementType own_type(const onnx::Node& node) {
  if (const onnx::Tensor* tensor = plan::constant_tensor(node)) return tensor->type;
  if (node.op_type == "Constant") {
    const bool is_float = onnx::find_attribute(node, "value_float") != nullptr ||
                          onnx::find_attribute(node, "value_floats") != nullptr;
    return is_float ? ElementType::kFloat : ElementType::kUndefined;
  }
  if (node.op_type == "ConstantOfShape") {
    const onnx::Attribute* value = onnx::find_attribute(node, "value");
    if (value == nullptr) return ElementType::kFloat;
    return value->tensors.size() == 1 ? value->tensors[0]->type : ElementType::kUndefined;
  }
  if (node.op_type != "Cast") return ElementType::kUndefined;
  const auto number = onnx::integer_attribute(node, "to");
  return number ? onnx::element_type_of(*number).value_or(ElementType::kUndefined) : ElementType::kUndefined;
}

}  // namespace

InferredTypes::InferredTypes(const graph::Index& index) : index_(index) {
  for (const graph::Body& body : index.bodies()) {
    for (const auto& [name, value] : body.values) numbers_.emplace(&value, numbers_.size());
  }
  nearer_.resize(numbers_.size());
  for (std::size_t i = 0; i < nearer_.size(); ++i) nearer_[i] = i;
  facts_.resize(numbers_.size());
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    if (index.bodies()[i].graph != nullptr) read_graph(i);
    for (const auto& node : index.bodies()[i].nodes()) read_node(i, *node);
  }
}

void InferredTypes::read_graph(std::size_t body) {
  const onnx::Graph& graph = *index_.bodies()[body].graph;
  for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const auto& info : *infos) {
      const onnx::ValueType type = onnx::read_type(info->type);
      if (type.kind == "tensor") declare(number(body, info->name), type.element);
    }
  }
  for (const auto& tensor : graph.initializers) declare(number(body, tensor->name), tensor->type);
  join_with_owner(body);
}

void InferredTypes::read_node(std::size_t body, const onnx::Node& node) {
  if (!onnx::is_default_domain(node.domain)) return;
  if (!node.outputs.empty()) declare(number(body, node.outputs[0]), own_type(node));
  const auto alike = find_alike(node.op_type);
  if (!alike) return;
  std::size_t first = kNone;
  const auto join_all = [&](const std::vector<Bytes>& names, std::uint32_t which) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!has_bit(which, i)) continue;
      const std::size_t value = number(body, names[i]);
      if (first == kNone) first = value;
      join(first, value);
    }
  };
  join_all(node.inputs, alike->inputs);
  join_all(node.outputs, alike->outputs);
}

// What goes into and comes out of a branch or of the body of a loop.
void InferredTypes::join_with_owner(std::size_t id) {
  const graph::Body& body = index_.bodies()[id];
  if (body.parent == kNone) return;
  const onnx::Node& owner = *index_.bodies()[body.parent].nodes()[body.owner];
  const bool is_loop = owner.op_type == "Loop";
  if (!onnx::is_default_domain(owner.domain) || (!is_loop && owner.op_type != "If")) return;
  const std::size_t before = is_loop ? 1 : 0;  // a loop's body also says whether to go on
  for (std::size_t i = 0; i < owner.outputs.size() && before + i < body.graph->outputs.size(); ++i)
    join(number(id, body.graph->outputs[before + i]->name), number(body.parent, owner.outputs[i]));
  for (std::size_t i = 2; is_loop && i < owner.inputs.size() && i < body.graph->inputs.size(); ++i) {
    const std::size_t state = number(id, body.graph->inputs[i]->name);
    join(state, number(body.parent, owner.inputs[i]));
    if (i - 2 < owner.outputs.size()) join(state, number(body.parent, owner.outputs[i - 2]));
  }
}

// kNone for values that are left out.
std::size_t InferredTypes::number(std::size_t body, Bytes name) const {
  const auto found = numbers_.find(name.empty() ? nullptr : index_.find(body, name).value);
  return found == numbers_.end() ? kNone : found->second;
}

std::size_t InferredTypes::class_of(std::size_t value) const {
  while (nearer_[value] != value) value = nearer_[value] = nearer_[nearer_[value]];
  return value;
}

void InferredTypes::join(std::size_t a, std::size_t b) {
  if (a == kNone || b == kNone) return;
  a = class_of(a);
  b = class_of(b);
  if (a == b) return;
  nearer_[b] = a;
  declare(a, facts_[b].type);
  facts_[a].is_contradicted |= facts_[b].is_contradicted;
}

void InferredTypes::declare(std::size_t value, ElementType type) {
  if (value == kNone || type == ElementType::kUndefined) return;
  Fact& fact = facts_[class_of(value)];
  fact.is_contradicted |= fact.type != ElementType::kUndefined && fact.type != type;
  fact.type = type;
}

ElementType InferredTypes::type(std::size_t body, Bytes name) const {
  const std::size_t value = number(body, name);
  if (value == kNone) return ElementType::kUndefined;
  const Fact& fact = facts_[class_of(value)];
  return fact.is_contradicted ? ElementType::kUndefined : fact.type;
}

}  // namespace ounce::passes
