#include "formats/onnx/graph/element_types.h"

#include <map>
#include <optional>
#include <set>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

using onnx::OpSchema;

const OpSchema* Schemas::of(std::size_t body, const onnx::Node& node) const {
  if (functions_.are_called_by(node)) return nullptr;
  const onnx::Function* function = index_.bodies()[index_.root(body)].function;
  const auto& imports = function != nullptr ? function->opset_imports : model_.proto->opset_imports;
  return onnx::find_op_schema(node.domain(), node.op_type(), onnx::opset_version(imports, node.domain()));
}

namespace {

constexpr int kDeepestCalls = 64;  // functions that call functions

ElementType type_of_number(std::optional<std::int64_t> number) {
  return number ? ounce::element_type_of(*number).value_or(ElementType::kUndefined) : ElementType::kUndefined;
}

// The type that a node gives by itself, whatever it takes.
ElementType own_type(const onnx::Node& node) {
  const Op op = node.op();
  if (const onnx::Tensor* tensor = constant_tensor(node)) return tensor->type;
  if (op == Op::kConstant) {
    const bool is_float = onnx::find_attribute(node, "value_float") != nullptr ||
                          onnx::find_attribute(node, "value_floats") != nullptr;
    const bool is_integer = onnx::find_attribute(node, "value_int") != nullptr ||
                            onnx::find_attribute(node, "value_ints") != nullptr;
    return is_float ? ElementType::kFloat : is_integer ? ElementType::kInt64 : ElementType::kUndefined;
  }
  if (op == Op::kConstantOfShape) {
    const onnx::Attribute* value = onnx::find_attribute(node, "value");
    if (value == nullptr) return ElementType::kFloat;
    return value->tensors.size() == 1 ? value->tensors[0]->type : ElementType::kUndefined;
  }
  constexpr auto kFloat = static_cast<std::int64_t>(ElementType::kFloat);
  if (op == Op::kCast) return type_of_number(onnx::integer_attribute(node, "to"));
  if (op == Op::kRandomNormal || op == Op::kRandomUniform)
    return type_of_number(onnx::integer_setting(node, "dtype", kFloat));
  if (op == Op::kBlackmanWindow || op == Op::kHammingWindow || op == Op::kHannWindow ||
      op == Op::kMelWeightMatrix)
    return type_of_number(onnx::integer_setting(node, "output_datatype", kFloat));
  // These give what they take unless they are told otherwise.
  if (op == Op::kEyeLike || op == Op::kBernoulli || op == Op::kRandomNormalLike ||
      op == Op::kRandomUniformLike)
    return type_of_number(onnx::integer_attribute(node, "dtype"));
  return ElementType::kUndefined;
}

}  // namespace

ElementTypes::ElementTypes(const onnx::Model& model, const Index& index) : index_(index) {
  for (const Body& body : index.bodies()) {
    for (const auto& [name, value] : body.values) numbers_.emplace(&value, numbers_.size());
  }
  nearer_.resize(numbers_.size());
  for (std::size_t i = 0; i < nearer_.size(); ++i) nearer_[i] = i;
  facts_.resize(numbers_.size());
  const Schemas schemas(model, index);
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    if (index.bodies()[i].graph != nullptr) read_graph(i);
    for (const auto& node : index.bodies()[i].nodes()) read_node(schemas, i, *node);
  }
  std::vector<Passage> calls;
  for (const Passage& passage : passages(index)) {
    const std::size_t inside = passage.way == Way::kLeaves ? passage.from.body : passage.to.body;
    if (index.bodies()[inside].function != nullptr) {
      calls.push_back(passage);
    } else {
      join(number(passage.from.body, passage.from.name), number(passage.to.body, passage.to.name));
    }
  }
  follow_calls(calls);
}

// A function may be called with several types, of which its callers must not hear from each other. What goes
// in is known when all calls agree, what comes out when its inside tells.
void ElementTypes::follow_calls(const std::vector<Passage>& calls) {
  std::set<std::size_t> many_typed;  // functions that are called with several types
  for (int depth = 0; depth < kDeepestCalls; ++depth) {
    bool is_new = false;
    std::map<std::size_t, std::set<ElementType>> given;  // by the formal value
    for (const Passage& call : calls) {
      if (call.way != Way::kEnters) continue;
      const ElementType type_given = type(call.from.body, call.from.name);
      auto& types = given[number(call.to.body, call.to.name)];
      if (type_given != ElementType::kUndefined) types.insert(type_given);
      if (types.size() > 1) many_typed.insert(call.to.body);
    }
    for (const Passage& call : calls) {
      // What is known inside of a function of many types does not depend on what goes in.
      if (call.way == Way::kEnters && many_typed.contains(call.to.body)) continue;
      const ElementType known = type(call.from.body, call.from.name);
      if (known == ElementType::kUndefined || type(call.to.body, call.to.name) != ElementType::kUndefined)
        continue;
      declare(number(call.to.body, call.to.name), known);
      is_new = true;
    }
    if (!is_new) return;
  }
}

void ElementTypes::read_graph(std::size_t body) {
  const onnx::Graph& graph = *index_.bodies()[body].graph;
  // Runtimes do not read what is declared about an initializer: it has the type that it has.
  const auto is_initializer = [&](Bytes name) {
    const auto found = index_.bodies()[body].values.find(name);
    return found != index_.bodies()[body].values.end() && found->second.initializer != kNone;
  };
  for (const auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (const auto& info : *infos) {
      if (infos == &graph.value_infos && is_initializer(info->name)) continue;
      const onnx::ValueType type = onnx::read_type(info->type);
      if (type.kind == "tensor") declare(body, info->name, type.element);
    }
  }
  for (const auto& tensor : graph.initializers) declare(body, tensor->name, tensor->type);
}

void ElementTypes::read_node(const Schemas& schemas, std::size_t body, const onnx::Node& node) {
  if (!node.outputs.empty()) declare(body, node.outputs[0], own_type(node));
  const OpSchema* schema = schemas.of(body, node);
  if (schema == nullptr) return;
  std::map<char, std::size_t> first;  // value, by variable
  const auto read = [&](std::string_view list, const std::vector<Bytes>& names, auto letter_of) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::optional<char> letter = letter_of(i);
      const std::size_t value = number(body, names[i]);
      if (!letter || value == kNone) continue;
      if (!OpSchema::is_variable(*letter)) {
        declare(value, onnx::type_of_letter(*letter));
        continue;
      }
      const bool has_own_type = list.ends_with('!') && i + 2 >= list.size();
      if (!has_own_type) join(first.try_emplace(*letter, value).first->second, value);
    }
  };
  read(schema->inputs, node.inputs, [&](std::size_t i) { return schema->input(i); });
  read(schema->outputs, node.outputs, [&](std::size_t i) { return schema->output(i); });
}

// kNone for values that are left out.
std::size_t ElementTypes::number(std::size_t body, Bytes name) const {
  const auto found = numbers_.find(name.empty() ? nullptr : index_.find(body, name).value);
  return found == numbers_.end() ? kNone : found->second;
}

std::size_t ElementTypes::class_of(std::size_t value) const {
  while (nearer_[value] != value) value = nearer_[value] = nearer_[nearer_[value]];
  return value;
}

void ElementTypes::join(std::size_t a, std::size_t b) {
  if (a == kNone || b == kNone) return;
  a = class_of(a);
  b = class_of(b);
  if (a == b) return;
  nearer_[b] = a;
  declare(a, facts_[b].type);
  facts_[a].is_contradicted |= facts_[b].is_contradicted;
}

void ElementTypes::declare(std::size_t body, Bytes name, ElementType type) {
  declare(number(body, name), type);
}

void ElementTypes::declare(std::size_t value, ElementType type) {
  if (value == kNone || type == ElementType::kUndefined) return;
  Fact& fact = facts_[class_of(value)];
  fact.is_contradicted |= fact.type != ElementType::kUndefined && fact.type != type;
  fact.type = type;
}

ElementType ElementTypes::type(std::size_t body, Bytes name) const {
  const std::size_t value = number(body, name);
  if (value == kNone) return ElementType::kUndefined;
  const Fact& fact = facts_[class_of(value)];
  return fact.is_contradicted ? ElementType::kUndefined : fact.type;
}

}  // namespace ounce::graph
