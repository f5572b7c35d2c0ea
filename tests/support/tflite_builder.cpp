#include "support/tflite_builder.h"

#include <utility>

#include "formats/tflite/edit/metadata.h"

namespace ounce::tflite {

namespace {

template <class Number>
std::string bytes_of_all(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

}  // namespace

TfliteBuilder::TfliteBuilder() {
  model.description = "a test";
  model.buffers.emplace_back();  // the empty one
  subgraph("main");
}

TfliteBuilder& TfliteBuilder::subgraph(std::string_view name) {
  model.subgraphs.emplace_back().name = model.intern(std::string(name));
  return *this;
}

std::int32_t TfliteBuilder::tensor(std::string_view name, Shape shape, TensorType type) {
  Tensor& added = graph().tensors.emplace_back();
  added.name = model.intern(std::string(name));
  added.shape = std::move(shape);
  added.type = type;
  return static_cast<std::int32_t>(graph().tensors.size() - 1);
}

std::int32_t TfliteBuilder::constant(std::string_view name, Shape shape, TensorType type, std::string bytes) {
  const std::int32_t index = tensor(name, std::move(shape), type);
  graph().tensors.back().buffer = static_cast<std::uint32_t>(model.buffers.size());
  model.buffers.emplace_back().data = Data(std::move(bytes));
  return index;
}

std::int32_t TfliteBuilder::weights(std::string_view name, Shape shape, const std::vector<float>& values) {
  return constant(name, std::move(shape), TensorType::kFloat32, bytes_of_all(values));
}

std::int32_t TfliteBuilder::integers(std::string_view name, Shape shape,
                                     const std::vector<std::int32_t>& values) {
  return constant(name, std::move(shape), TensorType::kInt32, bytes_of_all(values));
}

TfliteBuilder& TfliteBuilder::quantized(std::vector<float> scales, std::vector<std::int64_t> zero_points,
                                        std::int32_t axis) {
  Quantization& quantization = graph().tensors.back().quantization.emplace();
  quantization.scale = std::move(scales);
  quantization.zero_point = std::move(zero_points);
  quantization.dimension = axis;
  return *this;
}

std::uint32_t TfliteBuilder::operator_code(Builtin code, std::string_view custom, std::int32_t version) {
  const auto number = static_cast<std::int32_t>(code);
  for (std::size_t i = 0; i < model.operator_codes.size(); ++i) {
    const OperatorCode& known = model.operator_codes[i];
    if (known.code == number && known.custom_code == custom && known.version == version)
      return static_cast<std::uint32_t>(i);
  }
  OperatorCode& added = model.operator_codes.emplace_back();
  added.code = number;
  added.version = version;
  if (!custom.empty()) added.custom_code = model.intern(std::string(custom));
  return static_cast<std::uint32_t>(model.operator_codes.size() - 1);
}

Operator& TfliteBuilder::op(Builtin code, Tensors inputs, Tensors outputs, std::string_view options,
                            std::int32_t version) {
  Operator& added = graph().operators.emplace_back();
  added.opcode_index = operator_code(code, {}, version);
  added.inputs = std::move(inputs);
  added.outputs = std::move(outputs);
  if (options.empty()) return added;
  added.options.type = builtin_options_type(options);
  added.options.table.emplace(*builtin_options(added.options.type));
  return added;
}

Operator& TfliteBuilder::custom_op(std::string_view name, Tensors inputs, Tensors outputs,
                                   std::string options) {
  Operator& added = graph().operators.emplace_back();
  added.opcode_index = operator_code(Builtin::kCustom, name, 1);
  added.inputs = std::move(inputs);
  added.outputs = std::move(outputs);
  added.custom_options = Data(std::move(options));
  return added;
}

TfliteBuilder& TfliteBuilder::inputs(Tensors tensors) {
  graph().inputs = std::move(tensors);
  return *this;
}

TfliteBuilder& TfliteBuilder::outputs(Tensors tensors) {
  graph().outputs = std::move(tensors);
  return *this;
}

TfliteBuilder& TfliteBuilder::signature(std::string_view key) {
  Signature& added = model.signatures.emplace_back();
  added.key = model.intern(std::string(key));
  added.subgraph = static_cast<std::uint32_t>(model.subgraphs.size() - 1);
  const auto map = [&](const Tensors& tensors, std::vector<TensorMap>& maps) {
    for (const std::int32_t tensor : tensors) {
      TensorMap& entry = maps.emplace_back();
      entry.name = graph().tensors[static_cast<std::size_t>(tensor)].name;
      entry.tensor = static_cast<std::uint32_t>(tensor);
    }
  };
  map(graph().inputs, added.inputs);
  map(graph().outputs, added.outputs);
  return *this;
}

TfliteBuilder& TfliteBuilder::metadata(std::string_view name, std::string value) {
  set_metadata(model, name, std::move(value));
  return *this;
}

}  // namespace ounce::tflite
