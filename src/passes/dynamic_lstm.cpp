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
#include "plan/dynamic_kernels.h"

namespace ounce::passes {
namespace {

using Dims = std::vector<std::int64_t>;

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

void put_dynamic_lstm(Editors& editors, std::size_t body, std::size_t position, const StoredGates& weight,
                      const StoredGates& recurrence) {
  constexpr std::size_t kWeight = 1, kRecurrence = 2, kCount = 8;  // inputs of LSTM, by their place
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
    const auto& known = plan::kLstmAttributes;
    if (std::find(known.begin(), known.end(), attribute->name) != known.end())
      node.attributes.push_back(onnx::copy_of(attribute));
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
