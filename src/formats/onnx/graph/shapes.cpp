#include "formats/onnx/graph/shapes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {
namespace {

constexpr std::int64_t kUnknown = -1;
constexpr std::size_t kSpatial = 2;  // first axis after batch and channels

std::int64_t at(const std::optional<std::vector<std::int64_t>>& values, std::size_t i,
                std::int64_t otherwise) {
  return values && i < values->size() ? (*values)[i] : otherwise;
}

std::size_t axis_of(const onnx::Node& node, std::int64_t otherwise, std::size_t rank) {
  const std::int64_t axis = onnx::integer_attribute(node, "axis").value_or(otherwise);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

std::int64_t product(const Dims& dims, std::size_t first, std::size_t last) {
  std::int64_t result = 1;
  for (std::size_t i = first; i < last; ++i) {
    if (dims[i] < 0) return kUnknown;
    if (__builtin_mul_overflow(result, dims[i], &result)) return kUnknown;
  }
  return result;
}

Dims of_transpose(const onnx::Node& node, const Dims& input) {
  const auto rank = static_cast<std::int64_t>(input.size());
  const auto order = onnx::integers_attribute(node, "perm");
  Dims dims(input.size(), kUnknown);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t from = order ? at(order, i, kUnknown) : rank - 1 - static_cast<std::int64_t>(i);
    if (from >= 0 && from < rank) dims[i] = input[static_cast<std::size_t>(from)];
  }
  return dims;
}

}  // namespace

InferredShapes::InferredShapes(const onnx::Model& model, const Index& index,
                               std::unordered_map<Bytes, Dims> known)
    : model_(model), index_(index), declared_(index), inferred_(std::move(known)) {
  for (const auto& node : index.main().nodes()) infer(*node);
}

const Dims* InferredShapes::of(Bytes name) const {
  const auto found = inferred_.find(name);
  if (found != inferred_.end()) return &found->second;
  return name.empty() ? nullptr : declared_.of(0, name);
}

void InferredShapes::infer(const onnx::Node& node) {
  if (node.outputs.empty() || node.inputs.empty()) return;
  const Dims* declared = of(node.outputs[0]);
  const auto is_known = [](std::int64_t dim) { return dim >= 0; };
  if (declared != nullptr && std::all_of(declared->begin(), declared->end(), is_known)) return;
  const Dims* input = of(node.inputs[0]);
  const auto give = [&](const Dims& dims) {
    if (!dims.empty()) inferred_.insert_or_assign(node.outputs[0], dims);
  };
  const ops::Shape rule = node.info().shape;
  switch (rule) {
    case ops::Shape::kUnknown: return;
    case ops::Shape::kBroadcast: return give(broadcast(node));
    case ops::Shape::kConcat: return give(of_concat(node));
    case ops::Shape::kMatMul: return give(of_matrix_product(node));
    default: break;
  }
  if (input == nullptr) return;
  const std::size_t rank = input->size();
  switch (rule) {
    case ops::Shape::kSame: return give(*input);
    case ops::Shape::kConv:
    case ops::Shape::kConvTranspose: {
      const Dims* weight = of(input_of(node, 1));
      if (weight == nullptr || weight->size() != rank || rank <= kSpatial) return;
      if (rule == ops::Shape::kConvTranspose) return give(of_transposed_conv(node, *input, *weight));
      return give(of_window(node, *input, Dims(weight->begin() + kSpatial, weight->end()), (*weight)[0]));
    }
    case ops::Shape::kPool: {
      const auto kernel = onnx::integers_attribute(node, "kernel_shape");
      if (kernel && rank == kernel->size() + kSpatial) give(of_window(node, *input, *kernel, (*input)[1]));
      return;
    }
    case ops::Shape::kGlobalPool: {
      Dims dims(rank, 1);
      for (std::size_t i = 0; i < std::min(rank, kSpatial); ++i) dims[i] = (*input)[i];
      return give(dims);
    }
    case ops::Shape::kFlatten: {
      const std::size_t axis = std::min(axis_of(node, 1, rank), rank);
      return give({product(*input, 0, axis), product(*input, axis, rank)});
    }
    case ops::Shape::kTranspose: return give(of_transpose(node, *input));
    case ops::Shape::kSplit: {
      Dims dims = *input;
      const std::size_t axis = axis_of(node, 0, rank);
      if (axis < rank) dims[axis] = kUnknown;
      for (const Bytes output : node.outputs) inferred_.insert_or_assign(output, dims);
      return;
    }
    case ops::Shape::kReshape: return give(of_reshape(node, *input));
    case ops::Shape::kResize: return give(of_resize(node, *input));
    default: return;
  }
}

// Conv and pooling.
Dims InferredShapes::of_window(const onnx::Node& node, const Dims& input, const Dims& kernel,
                               std::int64_t channels) const {
  const auto strides = onnx::integers_attribute(node, "strides"),
             pads = onnx::integers_attribute(node, "pads"),
             dilations = onnx::integers_attribute(node, "dilations");
  const Bytes auto_pad = onnx::string_attribute(node, "auto_pad").value_or("NOTSET");
  const bool rounds_up = onnx::integer_attribute(node, "ceil_mode").value_or(0) != 0;
  Dims dims = {input[0], channels};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t size = input[i + kSpatial], stride = at(strides, i, 1);
    if (size < 0 || stride <= 0 || kernel[i] < 0) {
      dims.push_back(kUnknown);
      continue;
    }
    if (auto_pad.starts_with("SAME")) {
      dims.push_back((size + stride - 1) / stride);
      continue;
    }
    const std::int64_t padding = auto_pad == "NOTSET" ? at(pads, i, 0) + at(pads, i + kernel.size(), 0) : 0;
    const std::int64_t room = size + padding - at(dilations, i, 1) * (kernel[i] - 1) - 1;
    dims.push_back(room < 0 ? kUnknown : (room + (rounds_up ? stride - 1 : 0)) / stride + 1);
  }
  return dims;
}

Dims InferredShapes::of_transposed_conv(const onnx::Node& node, const Dims& input, const Dims& weight) const {
  const auto strides = onnx::integers_attribute(node, "strides"),
             pads = onnx::integers_attribute(node, "pads"),
             dilations = onnx::integers_attribute(node, "dilations"),
             more = onnx::integers_attribute(node, "output_padding"),
             asked = onnx::integers_attribute(node, "output_shape");
  const Bytes auto_pad = onnx::string_attribute(node, "auto_pad").value_or("NOTSET");
  const std::int64_t groups = onnx::integer_attribute(node, "group").value_or(1);
  const std::size_t spatial = input.size() - kSpatial;
  Dims dims = {input[0], weight[1] < 0 ? kUnknown : weight[1] * groups};
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t size = input[i + kSpatial], stride = at(strides, i, 1), kernel = weight[i + kSpatial];
    if (asked) {
      dims.push_back(at(asked, i + asked->size() - spatial, kUnknown));
    } else if (size < 0 || kernel < 0) {
      dims.push_back(kUnknown);
    } else if (auto_pad.starts_with("SAME")) {
      dims.push_back(size * stride);
    } else {
      dims.push_back(stride * (size - 1) + at(more, i, 0) + at(dilations, i, 1) * (kernel - 1) + 1 -
                     at(pads, i, 0) - at(pads, i + spatial, 0));
    }
  }
  return dims;
}

Dims InferredShapes::of_concat(const onnx::Node& node) const {
  Dims dims;
  for (const Bytes name : node.inputs) {
    const Dims* part = of(name);
    if (part == nullptr || part->empty() || (!dims.empty() && part->size() != dims.size())) return {};
    if (dims.empty()) {
      dims = *part;
      continue;
    }
    const std::size_t axis = axis_of(node, 0, dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (i == axis)
        dims[i] = dims[i] < 0 || (*part)[i] < 0 ? kUnknown : dims[i] + (*part)[i];
      else if (dims[i] < 0)
        dims[i] = (*part)[i];
    }
  }
  return dims;
}

Dims InferredShapes::of_matrix_product(const onnx::Node& node) const {
  const Dims *left = of(input_of(node, 0)), *right = of(input_of(node, 1));
  if (left == nullptr || right == nullptr || left->size() < 2 || right->size() < 2) return {};
  if (node.op() == Op::kGemm) {
    const bool left_turned = onnx::integer_attribute(node, "transA").value_or(0) != 0,
               right_turned = onnx::integer_attribute(node, "transB").value_or(0) != 0;
    return {(*left)[left_turned ? 1 : 0], (*right)[right_turned ? 0 : 1]};
  }
  const Dims& longer = left->size() >= right->size() ? *left : *right;
  Dims dims(longer.begin(), longer.end() - 2);
  dims.push_back((*left)[left->size() - 2]);
  dims.push_back(right->back());
  return dims;
}

Dims InferredShapes::of_reshape(const onnx::Node& node, const Dims& input) const {
  Dims dims = integers(input_of(node, 1));
  const bool zero_is_zero = onnx::integer_attribute(node, "allowzero").value_or(0) != 0;
  std::int64_t rest = product(input, 0, input.size());
  std::size_t open = kNone;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zero_is_zero) dims[i] = i < input.size() ? input[i] : kUnknown;
    if (dims[i] == -1 && open == kNone)
      open = i;
    else if (dims[i] > 0 && rest > 0)
      rest /= dims[i];
  }
  if (open != kNone && rest > 0) dims[open] = rest;
  return dims;
}

Dims InferredShapes::of_resize(const onnx::Node& node, const Dims& input) const {
  const std::vector<std::int64_t> sizes = integers(input_of(node, 3));
  if (sizes.size() == input.size()) return sizes;
  std::vector<float> scales =
      floats(input_of(node, node.op() == Op::kResize && node.inputs.size() > 2 ? 2 : 1));
  if (scales.empty()) scales = onnx::floats_setting(node, "scales").value_or(std::vector<float>());
  if (scales.size() != input.size()) return {};
  Dims dims = input;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const double size = static_cast<double>(dims[i]) * static_cast<double>(scales[i]);
    if (dims[i] >= 0) dims[i] = size >= 0 && size < 1e9 ? static_cast<std::int64_t>(size) : kUnknown;
  }
  return dims;
}

Dims InferredShapes::broadcast(const onnx::Node& node) const {
  Dims dims;
  for (const Bytes name : node.inputs) {
    const Dims* part = of(name);
    if (part == nullptr) return {};
    if (part->size() > dims.size()) dims.insert(dims.begin(), part->size() - dims.size(), 1);
    const std::size_t offset = dims.size() - part->size();
    for (std::size_t i = 0; i < part->size(); ++i) {
      std::int64_t& dim = dims[offset + i];
      if (dim == 1 || (dim < 0 && (*part)[i] > 1)) dim = (*part)[i];
    }
  }
  return dims;
}

std::vector<std::int64_t> InferredShapes::integers(Bytes name) const {
  const auto constant = find_constant(model_, index_, 0, name);
  if (!constant || constant->tensor->type != ElementType::kInt64) return {};
  const onnx::RawValues values(*constant->tensor);
  std::vector<std::int64_t> result(values.bytes().size() / sizeof(std::int64_t));
  std::memcpy(result.data(), values.bytes().data(), result.size() * sizeof(std::int64_t));
  return result;
}

std::vector<float> InferredShapes::floats(Bytes name) const {
  const auto constant = find_constant(model_, index_, 0, name);
  if (!constant || constant->tensor->type != ElementType::kFloat) return {};
  const onnx::RawValues values(*constant->tensor);
  std::vector<float> result(values.bytes().size() / sizeof(float));
  std::memcpy(result.data(), values.bytes().data(), result.size() * sizeof(float));
  return result;
}

Shapes::Shapes(const Index& index) : index_(index) {
  for (const Body& body : index.bodies()) {
    const auto declare = [&](Bytes name, Dims dims) {
      const auto found = body.values.find(name);
      if (found != body.values.end()) shapes_.insert_or_assign(&found->second, std::move(dims));
    };
    if (body.graph != nullptr) {
      for (const auto* infos : {&body.graph->value_infos, &body.graph->inputs, &body.graph->outputs}) {
        for (const auto& info : *infos) {
          const onnx::ValueType type = onnx::read_type(info->type);
          if (type.kind != "tensor" || !type.has_shape) continue;
          Dims dims;
          for (const onnx::Dimension& dimension : type.shape) dims.push_back(dimension.value);
          declare(info->name, std::move(dims));
        }
      }
      for (const auto& tensor : body.graph->initializers) declare(tensor->name, tensor->dims);
    }
    for (const auto& node : body.nodes()) {
      const onnx::Tensor* tensor = constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty()) declare(node->outputs[0], tensor->dims);
    }
  }
  for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    const bool keeps_shape = node.op() == Op::kCast || node.op() == Op::kIdentity;
    if (!keeps_shape || node.outputs.empty()) return;
    const Dims* dims = of(body, input_of(node, 0));
    if (dims != nullptr) shapes_.try_emplace(index.find(body, node.outputs[0]).value, *dims);
  });
}

const Dims* Shapes::of(std::size_t body, Bytes name) const {
  const auto found = shapes_.find(name.empty() ? nullptr : index_.find(body, name).value);
  return found == shapes_.end() ? nullptr : &found->second;
}

using onnx::OpSchema;

const OpSchema* Schemas::of(std::size_t body, const onnx::Node& node) const {
  if (functions_.are_called_by(node)) return nullptr;
  const onnx::Function* function = index_.bodies()[index_.root(body)].function;
  const auto& imports = function != nullptr ? function->opset_imports : model_.proto->opset_imports;
  return onnx::find_op_schema(node.domain(), node.op_type(), onnx::opset_version(imports, node.domain()));
}

namespace {

constexpr int kDeepestCalls = 64;  // nesting limit for function calls

ElementType type_of_number(std::optional<std::int64_t> number) {
  return number ? ounce::element_type_of(*number).value_or(ElementType::kUndefined) : ElementType::kUndefined;
}

// The output type of a node that does not depend on its inputs.
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
  // The output type of these ops is that of the input unless an attribute sets it.
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

// Propagates types through function calls. A function may be called with several types, which must not mix:
// inputs are typed only if all calls agree, outputs only from the function's inside.
void ElementTypes::follow_calls(const std::vector<Passage>& calls) {
  std::set<std::size_t> many_typed;  // functions called with several types
  for (int depth = 0; depth < kDeepestCalls; ++depth) {
    bool is_new = false;
    std::map<std::size_t, std::set<ElementType>> given;  // by formal parameter
    for (const Passage& call : calls) {
      if (call.way != Way::kEnters) continue;
      const ElementType type_given = type(call.from.body, call.from.name);
      auto& types = given[number(call.to.body, call.to.name)];
      if (type_given != ElementType::kUndefined) types.insert(type_given);
      if (types.size() > 1) many_typed.insert(call.to.body);
    }
    for (const Passage& call : calls) {
      // Types inside such a function do not depend on its inputs.
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
  // Runtimes ignore the declared type of an initializer, because the tensor has its own.
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

// kNone for omitted values.
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
