#include "passes/dynamic_lstm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <protozero/pbf_writer.hpp>
#include <algorithm>
#include <array>
#include <cstdint>

#include "onnx/attributes.h"
#include "onnx/settings.h"
#include "passes/chain.h"
#include "passes/constants.h"

namespace ounce::passes {
namespace {

using Dims = std::vector<std::int64_t>;
using onnx::ElementType;

// Inputs of LSTM, by their place.
enum Input : std::size_t { kWeight = 1, kRecurrence = 2, kCount = 8 };

constexpr std::array<std::string_view, 7> kAttributes = {
    "activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget"};

bool is_known(Bytes attribute) {
  return std::find(kAttributes.begin(), kAttributes.end(), attribute) != kAttributes.end();
}

std::string why_not_attributes(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    if (!is_known(attribute->name) && attribute->name != "layout")
      return fmt::format("its attribute '{}' is not known to DynamicQuantizeLSTM", attribute->name);
  }
  if (integer_setting(node, "layout", 0) != 0) return "its batches come first (layout)";
  if (!string_setting(node, "direction", "forward")) return "its direction is not known here";
  return {};
}

std::string why_not_weight(const std::optional<Constant>& weight, const char* what) {
  if (!weight) return fmt::format("its {} is computed while the model runs", what);
  if (weight->tensor->type != ElementType::kFloat) return fmt::format("its {} is not float32", what);
  if (weight->tensor->dims.size() != 3) return fmt::format("its {} has not three axes", what);
  if (weight->tensor->element_count() == 0) return fmt::format("its {} is empty", what);
  if (weight->is_shared()) return fmt::format("its {} is used elsewhere too", what);
  return {};
}

std::string why_not_shapes(const onnx::Node& node, const Dims& weight, const Dims& recurrence) {
  const std::int64_t directions = *string_setting(node, "direction", "forward") == "bidirectional" ? 2 : 1;
  const std::int64_t hidden = recurrence[2];
  const bool fits = weight[0] == directions && recurrence[0] == directions && weight[1] == recurrence[1] &&
                    weight[1] % 4 == 0 && weight[1] / 4 == hidden;
  if (!fits) return "its weights do not fit together";
  return integer_setting(node, "hidden_size", hidden) == hidden
             ? ""
             : "its hidden_size is not that of its weights";
}

// perm = [0, 2, 1]
onnx::Attribute gates_last(onnx::Model& model) {
  onnx::Attribute attribute;
  attribute.name = "perm";
  const auto add = [&](onnx::AttributeField field, std::int64_t value) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_int64(static_cast<std::uint32_t>(field), value);
    attribute.carried.push_back({static_cast<std::uint32_t>(field), model.intern(std::move(bytes))});
  };
  for (const std::int64_t axis : {0, 2, 1}) add(onnx::AttributeField::kInts, axis);
  add(onnx::AttributeField::kType, static_cast<std::int64_t>(onnx::AttributeType::kInts));
  return attribute;
}

// The inputs of the kernel for one weight.
class Gates {
 public:
  Gates(Editors& editors, const StoredGates& stored)
      : editor_(editors.of(stored.decision->weight.body)),
        stored_(stored),
        dims_(stored.decision->weight.tensor->dims) {
    const std::size_t constant = stored.decision->weight.constant;
    place_ = constant != graph::kNone ? constant : BodyEditor::kFront;
  }

  Bytes codes() {
    return Chain(editor_, place_, stored_.names.codes)
        .node("Transpose", {}, gates_last(editor_.model()))
        .value();
  }
  Bytes scales() { return shaped(stored_.names.scales); }
  Bytes zeros() {
    if (!stored_.names.zeros.empty()) return shaped(stored_.names.zeros);
    const Dims dims = wanted();
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    return editor_.add_shared(fmt::format("int8 zeros {}", fmt::join(dims, ",")),
                              make_tensor(ElementType::kInt8, dims, std::string(count, '\0')));
  }

 private:
  bool has_one_scale() const { return stored_.decision->layout.groups() == 1; }
  Dims wanted() const { return has_one_scale() ? Dims{dims_[0]} : Dims{dims_[0], dims_[1]}; }

  Bytes shaped(Bytes values) {
    if (stored_.decision->scale_dims == wanted()) return values;
    Chain chain(editor_, place_, values);
    if (!has_one_scale()) return chain.reshape(wanted()).value();
    return chain.node("Expand", {editor_.add_integers(place_, wanted())}).value();
  }

  BodyEditor& editor_;
  const StoredGates& stored_;
  const Dims& dims_;
  std::size_t place_;
};

}  // namespace

std::string why_not_dynamic_lstm(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                 const onnx::Node& node) {
  if (std::string reason = why_not_attributes(node); !reason.empty()) return reason;
  const auto weight = find_constant(model, index, body, input_of(node, kWeight));
  const auto recurrence = find_constant(model, index, body, input_of(node, kRecurrence));
  if (std::string reason = why_not_weight(weight, "weight"); !reason.empty()) return reason;
  if (std::string reason = why_not_weight(recurrence, "recurrent weight"); !reason.empty()) return reason;
  return why_not_shapes(node, weight->tensor->dims, recurrence->tensor->dims);
}

void put_dynamic_lstm(Editors& editors, std::size_t body, std::size_t position, const StoredGates& weight,
                      const StoredGates& recurrence) {
  BodyEditor& editor = editors.of(body);
  const onnx::Node& old = editor.node(position);
  onnx::Node node;
  node.name = old.name;
  node.op_type = "DynamicQuantizeLSTM";
  node.domain = "com.microsoft";
  node.inputs = old.inputs;
  node.inputs.resize(kCount);
  node.outputs = old.outputs;
  for (const auto& attribute : old.attributes) {
    if (is_known(attribute->name)) node.attributes.push_back(onnx::copy_of(attribute));
  }
  if (onnx::find_attribute(old, "hidden_size") == nullptr) {
    const std::int64_t hidden = recurrence.decision->weight.tensor->dims[2];
    node.attributes.emplace_back(onnx::make_integer_attribute(editor.model(), "hidden_size", hidden));
  }
  Gates input_gates(editors, weight), recurrent_gates(editors, recurrence);
  node.inputs[kWeight] = input_gates.codes();
  node.inputs[kRecurrence] = recurrent_gates.codes();
  for (Gates* gates : {&input_gates, &recurrent_gates}) {
    node.inputs.push_back(gates->scales());
    node.inputs.push_back(gates->zeros());
  }
  editor.replace_node(position);
  editor.add_node(position, std::move(node));
}

}  // namespace ounce::passes
