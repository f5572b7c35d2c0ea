#include "formats/onnx/edit/value_types.h"

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::passes {

ValueTypes::ValueTypes(const graph::Index& index) : index_(index), declared_(index.bodies().size()) {
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const graph::Body& body = index.bodies()[i];
    if (body.graph != nullptr) {
      for (const auto* infos : {&body.graph->inputs, &body.graph->outputs, &body.graph->value_infos})
        declare(i, *infos);
      for (const auto& tensor : body.graph->initializers)
        declare(i, tensor->name, {tensor->type, tensor->dims.size()});
    }
    for (const auto& node : body.nodes()) {
      note_attributes(*node);
      const onnx::Tensor* tensor = plan::constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty())
        declare(i, node->outputs[0], {tensor->type, tensor->dims.size()});
    }
  }
}

void ValueTypes::declare(std::size_t body, const std::vector<onnx::Kept<onnx::ValueInfo>>& infos) {
  for (const auto& info : infos) {
    const onnx::ValueType type = onnx::read_type(info->type);
    if (type.kind != "tensor") continue;
    declare(body, info->name,
            {type.element, type.has_shape ? std::optional(type.shape.size()) : std::nullopt});
  }
}

void ValueTypes::declare(std::size_t body, onnx::Bytes name, Declared declared) {
  declared_[body].insert_or_assign(name, declared);
  note_float(declared.element);
}

void ValueTypes::note_float(ElementType type) {
  has_other_floats_ |= is_float_weight_type(type) && type != ElementType::kFloat;
}

// Where a node makes a type of its own: the values in its attributes, or a type that it is told.
void ValueTypes::note_attributes(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    for (const auto& tensor : attribute->tensors) note_float(tensor->type);
  }
  for (const char* name : {"to", "dtype", "output_dtype", "output_datatype"}) {
    const auto number = onnx::integer_attribute(node, name);
    if (number) note_float(ounce::element_type_of(*number).value_or(ElementType::kUndefined));
  }
}

const ValueTypes::Declared* ValueTypes::find(std::size_t body, onnx::Bytes name) const {
  const std::size_t home = index_.find(body, name).body;
  if (home == graph::kNone) return nullptr;
  const auto found = declared_[home].find(name);
  return found == declared_[home].end() ? nullptr : &found->second;
}

std::optional<ElementType> ValueTypes::float_type(std::size_t body, onnx::Bytes name) const {
  const Declared* declared = find(body, name);
  if (declared != nullptr && declared->element != ElementType::kUndefined) return declared->element;
  if (has_other_floats_) return std::nullopt;
  return ElementType::kFloat;
}

std::optional<std::size_t> ValueTypes::rank(std::size_t body, onnx::Bytes name) const {
  const Declared* declared = find(body, name);
  return declared == nullptr ? std::nullopt : declared->rank;
}

}  // namespace ounce::passes
