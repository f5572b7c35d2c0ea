#include "formats/onnx/emit/emulate_halves.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/element_types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"
#include "kernels/half.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using graph::Value;

// Attributes of ONNX's own ops that say in which type a node computes or what it gives.
constexpr auto kTypeAttributes = std::to_array<std::string_view>(
    {"dtype", "output_datatype", "output_dtype", "precision", "softmax_precision", "stash_type"});

bool states_type(const onnx::Node& node, Bytes attribute, ElementType type) {
  return std::find(kTypeAttributes.begin(), kTypeAttributes.end(), attribute) != kTypeAttributes.end() &&
         onnx::integer_attribute(node, attribute) == static_cast<std::int64_t>(type);
}

onnx::Tensor widened(const onnx::Tensor& tensor) {
  const onnx::RawValues values(tensor);
  std::vector<float> floats(values.bytes().size() / sizeof(std::uint16_t));
  (tensor.type == ElementType::kBfloat16 ? kernels::bf16_to_f32 : kernels::f16_to_f32)(
      reinterpret_cast<const std::byte*>(values.bytes().data()), floats.size(), floats.data());
  return float_tensor(tensor.dims, floats);
}

class Emulation {
 public:
  Emulation(onnx::Model& model, ElementType half)
      : model_(model),
        half_(half),
        index_(model),
        types_(model, index_),
        functions_(index_),
        editors_(model, index_) {}

  void run() {
    // All outputs first: a value has to be rounded before it is widened at the same place.
    for_each_computing([&](auto... node) { round_outputs(node...); });
    for_each_computing([&](auto... node) { widen_inputs(node...); });
    for_each_computing([&](auto... node) { change_attributes(node...); });
    editors_.finish();
  }

 private:
  template <class Visit>
  void for_each_computing(Visit visit) const {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (!keeps_types(node)) visit(body, position, &node);
    });
  }

  bool keeps_types(const onnx::Node& node) const {
    return node.op() == Op::kCast || node.op() == Op::kConstant || functions_.are_called_by(node) ||
           std::any_of(node.attributes.begin(), node.attributes.end(),
                       [](const auto& attribute) { return !attribute->graphs.empty(); });
  }

  bool is_half(std::size_t body, Bytes name) const { return types_.type(body, name) == half_; }

  void round_outputs(std::size_t body, std::size_t position, const onnx::Node* node) {
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      const Bytes name = node->outputs[i];
      if (!is_half(body, name)) continue;
      BodyEditor& editor = editors_.of(body);
      const Bytes exact = editor.names().fresh("v");
      editor.edit_node(position).outputs[i] = exact;
      Chain(editor, position + 1, exact).cast(half_).finish(name);
    }
  }

  void widen_inputs(std::size_t body, std::size_t position, const onnx::Node* node) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const Bytes name = node->inputs[i];
      if (is_half(body, name)) editors_.of(body).edit_node(position).inputs[i] = widened_name(body, name);
    }
  }

  // How a value is called in float32; casts it the first time.
  Bytes widened_name(std::size_t body, Bytes name) {
    const auto [value, home] = index_.find(body, name);
    const auto [entry, is_new] = widened_.try_emplace(value);
    if (is_new) {
      const std::size_t place = value->producer == kNone ? BodyEditor::kFront : value->producer + 1;
      entry->second = Chain(editors_.of(home), place, name).cast(ElementType::kFloat).value();
    }
    return entry->second;
  }

  void change_attributes(std::size_t body, std::size_t position, const onnx::Node* node) {
    if (!onnx::is_default_domain(node->domain())) return;
    for (std::size_t a = 0; a < node->attributes.size(); ++a) {
      const onnx::Attribute& attribute = *node->attributes[a];
      const auto change = [&](onnx::Attribute changed) {
        editors_.of(body).edit_node(position).attributes[a].edit() = std::move(changed);
      };
      const bool is_value = node->op() == Op::kConstantOfShape && attribute.tensors.size() == 1;
      if (states_type(*node, attribute.name, half_)) {
        change(onnx::make_integer_attribute(model_, attribute.name,
                                            static_cast<std::int64_t>(ElementType::kFloat)));
      } else if (is_value && attribute.tensors[0]->type == half_) {
        change(onnx::make_tensor_attribute(model_, attribute.name, widened(*attribute.tensors[0])));
      }
    }
  }

  onnx::Model& model_;
  const ElementType half_;
  const graph::Index index_;
  const graph::ElementTypes types_;
  const graph::Functions functions_;
  Editors editors_;
  std::unordered_map<const Value*, Bytes> widened_;
};

}  // namespace

void emulate_halves(onnx::Model& model, ElementType half) { Emulation(model, half).run(); }

}  // namespace ounce::passes
