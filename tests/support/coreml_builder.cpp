#include "support/coreml_builder.h"

#include <protozero/pbf_writer.hpp>

#include <cstring>

#include "formats/coreml/file/blobs.h"
#include "formats/coreml/file/description.h"
#include "formats/coreml/file/reader.h"
#include "formats/coreml/file/values.h"
#include "formats/coreml/file/writer.h"
#include "kernels/half.h"
#include "support/ramp.h"
#include "support/temporary_folder.h"

namespace ounce::coreml {
namespace {

template <class Field>
constexpr std::uint32_t number(Field field) {
  return static_cast<std::uint32_t>(field);
}

std::string text_of(const io::Rope& rope) {
  std::string text;
  for (const io::Rope::Piece& piece : rope.pieces()) text += io::Rope::bytes_of(piece);
  return text;
}

std::string field_of(std::uint32_t field, const std::string& message) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_message(field, message);
  return bytes;
}

const char* opset_of(std::int64_t version) {
  constexpr const char* kOpsets[] = {"CoreML5", "CoreML6", "CoreML7", "CoreML8", "CoreML9"};
  return kOpsets[version - 6];
}

std::vector<float> values_of(std::size_t count, float scale) {
  std::vector<float> values(count);
  std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = scale * (static_cast<float>(state >> 8U) / static_cast<float>(1U << 23U) - 1.0F);
  }
  return values;
}

}  // namespace

CoremlBuilder::CoremlBuilder(std::int64_t version, DataType type) : type_(type) {
  ModelProto& proto = model.proto.edit();
  proto.version = version;
  proto.content = number(ModelField::kMlProgram);
  proto.description.emplace_back();
  Program& program = proto.program.emplace_back().edit();
  program.version = 1;
  NamedFunction& function = program.functions.emplace_back().edit();
  function.name = "main";
  function.function.edit().opset = opset_of(version);
  Specialization& specialization = function.function.edit().specializations.emplace_back().edit();
  specialization.opset = opset_of(version);
}

Block& CoremlBuilder::block() {
  return model.proto.edit()
      .program[0]
      .edit()
      .functions[0]
      .edit()
      .function.edit()
      .specializations[0]
      .edit()
      .block.edit();
}

NamedType CoremlBuilder::named(const std::string& name, const Shape& shape, DataType type) {
  NamedType value;
  value.name = model.intern(name);
  value.type = tensor_type(model, type, shape);
  return value;
}

void CoremlBuilder::describe(std::uint32_t field, const std::string& name, const Shape& shape) {
  std::string array, type, feature, message;
  protozero::pbf_writer out(array);
  out.add_packed_int64(number(ArrayField::kShape), shape.begin(), shape.end());
  out.add_int32(number(ArrayField::kDataType), type_ == DataType::kFloat16 ? 65552 : 65568);
  protozero::pbf_writer(type).add_message(number(FeatureTypeField::kArray), array);
  protozero::pbf_writer described(feature);
  described.add_string(number(FeatureField::kName), name);
  described.add_message(number(FeatureField::kType), type);
  model.proto.edit().description[0].edit().carried.push_back({field, model.intern(field_of(field, feature))});
}

CoremlBuilder& CoremlBuilder::input(const std::string& name, const Shape& shape) {
  describe(number(DescriptionField::kInput), name, shape);
  model.proto.edit().program[0].edit().functions[0].edit().function.edit().inputs.emplace_back(
      named(name, shape, type_));
  return *this;
}

CoremlBuilder& CoremlBuilder::output(const std::string& name, const Shape& shape) {
  describe(number(DescriptionField::kOutput), name, shape);
  block().outputs.push_back(model.intern(name));
  return *this;
}

Attribute CoremlBuilder::attribute(const std::string& name, Value value) {
  Attribute attribute;
  attribute.name = model.intern(name);
  attribute.value = Kept<Value>(std::move(value));
  return attribute;
}

CoremlBuilder& CoremlBuilder::constant(const std::string& name, Value value) {
  Operation operation;
  operation.type = "const";
  NamedType output;
  output.name = model.intern(name);
  output.type = value.type;
  operation.outputs.emplace_back(output);
  operation.attributes.emplace_back(attribute("name", string_value(model, name)));
  operation.attributes.emplace_back(attribute("val", std::move(value)));
  block().operations.emplace_back(std::move(operation));
  return *this;
}

Value CoremlBuilder::stored(DataType type, const Shape& shape, const std::string& bytes) {
  if (weights_.empty()) weights_.resize(kBlobAlignment);
  weights_.resize(aligned(weights_.size()));
  Blob blob;
  blob.file = kTestWeights;
  blob.offset = weights_.size();
  const ValueType of = tensor_type(model, type, shape);
  weights_ += blob_description(of, bytes.size(), blob.offset) + bytes;
  ++blobs_;
  return blob_value(model, type, shape, std::move(blob));
}

CoremlBuilder& CoremlBuilder::weights(const std::string& name, const Shape& shape,
                                      const std::vector<float>& values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  if (type_ == DataType::kFloat16) {
    std::vector<std::uint16_t> halves(values.size());
    kernels::HalfStats stats;
    kernels::f32_to_f16(reinterpret_cast<const std::byte*>(values.data()), values.size(), halves.data(),
                        stats);
    bytes.assign(reinterpret_cast<const char*>(halves.data()), halves.size() * sizeof(std::uint16_t));
  }
  return constant(name, stored(type_, shape, bytes));
}

Operation& CoremlBuilder::op(const std::string& type, const Inputs& inputs, const std::string& output,
                             const Shape& shape) {
  Operation operation;
  operation.type = model.intern(type);
  for (const auto& [parameter, value] : inputs) {
    Input input;
    input.name = model.intern(parameter);
    Binding binding;
    binding.name = model.intern(value);
    input.argument.edit().bindings.emplace_back(binding);
    operation.inputs.emplace_back(std::move(input));
  }
  operation.outputs.emplace_back(named(output, shape, type_));
  operation.attributes.emplace_back(attribute("name", string_value(model, output)));
  return block().operations.emplace_back(std::move(operation)).edit();
}

CoremlBuilder& CoremlBuilder::metadata(const std::string& key, const std::string& value) {
  set_metadata(model, key, value);
  return *this;
}

std::string CoremlBuilder::bytes() const { return text_of(serialize(model, true)); }

std::string CoremlBuilder::weight_bytes() const {
  std::string bytes = weights_;
  if (bytes.empty()) bytes.resize(kBlobAlignment);
  return bytes.replace(0, kBlobAlignment, weight_header(blobs_));
}

Model CoremlBuilder::read() const { return read_model_from_memory(bytes(), weight_files(), "test"); }

void CoremlBuilder::write(const std::filesystem::path& package) const {
  const std::filesystem::path data = package / "Data" / "com.apple.CoreML";
  std::filesystem::create_directories(data / "weights");
  test::write_file(data / "model.mlmodel", bytes());
  test::write_file(data / "weights" / "weight.bin", weight_bytes());
  test::write_file(package / "Manifest.json",
                   R"({"fileFormatVersion": "1.0.0", "itemInfoEntries": {
  "A": {"author": "com.apple.CoreML", "description": "", "name": "model.mlmodel", "path": "com.apple.CoreML/model.mlmodel"},
  "B": {"author": "com.apple.CoreML", "description": "", "name": "weights", "path": "com.apple.CoreML/weights"}},
  "rootModelIdentifier": "A"})");
}

CoremlBuilder small_coreml(std::int64_t version, DataType type) {
  CoremlBuilder model(version, type);
  model.input("x", {1, 8, 6, 6});
  const auto integers = [&](const std::string& name, const std::vector<std::int32_t>& values) {
    model.constant(name,
                   tensor_value(model.model, DataType::kInt32, {static_cast<std::int64_t>(values.size())},
                                {reinterpret_cast<const char*>(values.data()), values.size() * 4}));
  };
  const auto flag = [&](const std::string& name) {
    ValueType type_of_flag = tensor_type(model.model, DataType::kBool, {});
    Value value;
    value.type = type_of_flag;
    value.immediate =
        model.model.intern(field_of(number(ImmediateField::kTensor),
                                    field_of(number(TensorField::kBools), std::string("\x0a\x01\x00", 3))));
    model.constant(name, value);
  };
  model.constant("pad_type", string_value(model.model, "valid"));
  integers("strides", {1, 1});
  integers("pad", {0, 0, 0, 0});
  integers("dilations", {1, 1});
  model.constant("groups", integer_value(model.model, 1));
  model.weights("conv_weight", {24, 8, 3, 3}, values_of(std::size_t{24} * 8 * 9, 0.5F));
  model.weights("conv_bias", {24}, values_of(24, 0.1F));
  model.op("conv",
           {{"x", "x"},
            {"weight", "conv_weight"},
            {"bias", "conv_bias"},
            {"pad_type", "pad_type"},
            {"strides", "strides"},
            {"pad", "pad"},
            {"dilations", "dilations"},
            {"groups", "groups"}},
           "conv", {1, 24, 4, 4});
  model.op("relu", {{"x", "conv"}}, "relu", {1, 24, 4, 4});
  integers("row", {1, 384});
  model.op("reshape", {{"x", "relu"}, {"shape", "row"}}, "flat", {1, 384});
  flag("no");
  model.weights("matmul_weight", {384, 40}, values_of(std::size_t{384} * 40, 0.25F));
  model.op("matmul", {{"x", "flat"}, {"y", "matmul_weight"}, {"transpose_x", "no"}, {"transpose_y", "no"}},
           "product", {1, 40});
  model.weights("linear_weight", {10, 40}, values_of(400, 1.0F));
  model.weights("linear_bias", {10}, values_of(10, 0.1F));
  model.op("linear", {{"x", "product"}, {"weight", "linear_weight"}, {"bias", "linear_bias"}}, "y", {1, 10});
  model.output("y", {1, 10});
  model.metadata("com.github.apple.coremltools.version", "9.0");
  return model;
}

CoremlBuilder everything_coreml() {
  CoremlBuilder model = small_coreml(9);
  Model& made = model.model;
  for (const DataType type :
       {DataType::kInt8, DataType::kUint8, DataType::kInt4, DataType::kUint4, DataType::kUint1,
        DataType::kUint2, DataType::kUint3, DataType::kUint6, DataType::kBfloat16}) {
    const std::size_t bytes = (std::size_t{16} * info_of(type).bits + 7) / 8;
    model.constant(std::string("in_file_") + std::string(name_of(type)),
                   model.stored(type, {16}, std::string(bytes, '\x5a')));
    model.constant(std::string("here_") + std::string(name_of(type)),
                   tensor_value(made, type, {16}, std::string(bytes, '\x3c')));
  }
  // A loop with two blocks.
  Operation& loop = model.op("while_loop", {{"loop_vars", "y"}}, "looped", {1, 10});
  for (const char* name : {"condition", "body"}) {
    Block& block = loop.blocks.emplace_back().edit();
    NamedType input;
    input.name = made.intern(std::string(name) + "_x");
    input.type = tensor_type(made, DataType::kFloat16, {1, 10});
    block.inputs.emplace_back(input);
    block.outputs.push_back(input.name);
  }
  // A second function, and fields that no schema knows.
  Program& program = made.proto.edit().program[0].edit();
  NamedFunction second = *program.functions[0];
  second.name = "second";
  program.functions.emplace_back(second);
  program.carried.push_back({90, made.intern(field_of(90, "unknown"))});
  Value list;
  list.type.kind = ValueType::Kind::kList;
  list.type.message = made.intern(field_of(number(ValueTypeField::kList), ""));
  list.immediate = made.intern(field_of(number(ImmediateField::kList), ""));
  Attribute attribute;
  attribute.name = "buildInfo";
  attribute.value = Kept<Value>(list);
  program.attributes.emplace_back(attribute);
  made.proto.edit().carried.push_back({10, made.intern(std::string("\x50\x01", 2))});  // isUpdatable
  return model;
}

std::string neural_network() {
  const auto floats = [](const std::vector<float>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  const auto weight = [&](const std::string& content) { return content; };
  std::string coded, quantization, linear;
  protozero::pbf_writer scales(linear);
  scales.add_bytes(number(LinearField::kScale), floats({0.5F, 2.0F}));
  scales.add_bytes(number(LinearField::kBias), floats({-1.0F, 1.0F}));
  protozero::pbf_writer quantized(quantization);
  quantized.add_uint64(number(QuantizationField::kBits), 4);
  quantized.add_message(number(QuantizationField::kLinear), linear);
  protozero::pbf_writer codes(coded);
  codes.add_bytes(number(WeightField::kRaw), std::string("\x12\x34\x56\x78", 4));
  codes.add_message(number(WeightField::kQuantization), quantization);
  std::string bias;
  protozero::pbf_writer(bias).add_bytes(number(WeightField::kFloat16), std::string("\x00\x3c\x00\x40", 4));
  std::string product;
  protozero::pbf_writer parameters(product);
  parameters.add_message(20, weight(coded));
  parameters.add_message(21, bias);
  std::string layer, network, table, lookup, embedding;
  protozero::pbf_writer described(layer);
  described.add_string(number(LayerField::kName), "product");
  described.add_string(number(LayerField::kInput), "x");
  described.add_string(number(LayerField::kOutput), "h");
  described.add_message(140, product);
  protozero::pbf_writer(lookup).add_bytes(number(LookupField::kValue), floats({1, 2, 3, 4}));
  std::string kinds;
  protozero::pbf_writer of_kinds(kinds);
  of_kinds.add_uint64(number(QuantizationField::kBits), 2);
  of_kinds.add_message(number(QuantizationField::kLookup), lookup);
  protozero::pbf_writer rows(table);
  rows.add_bytes(number(WeightField::kRaw), std::string("\x1b", 1));
  rows.add_message(number(WeightField::kQuantization), kinds);
  protozero::pbf_writer(embedding).add_message(20, table);
  std::string second;
  protozero::pbf_writer other(second);
  other.add_string(number(LayerField::kName), "table");
  other.add_string(number(LayerField::kInput), "h");
  other.add_string(number(LayerField::kOutput), "y");
  other.add_message(150, embedding);
  protozero::pbf_writer layers(network);
  layers.add_message(number(NetworkField::kLayer), layer);
  layers.add_message(number(NetworkField::kLayer), second);
  std::string model;
  protozero::pbf_writer out(model);
  out.add_int32(number(ModelField::kVersion), 3);
  out.add_message(number(ModelField::kDescription), std::string());
  out.add_message(number(ModelField::kNeuralNetwork), network);
  return model;
}

std::string joined(const CoremlBuilder& model) { return joined(model.bytes(), model.weight_bytes()); }

std::string joined(const std::string& model, const std::string& weights) {
  const auto size = static_cast<std::uint32_t>(model.size());
  std::string both(sizeof size, '\0');
  std::memcpy(both.data(), &size, sizeof size);
  return both + model + weights;
}

CoremlBuilder compressed_coreml(bool has_inputs) {
  CoremlBuilder model(has_inputs ? 9 : 7, DataType::kFloat32);
  Model& made = model.model;
  model.input("x", {2, 4});
  const auto floats = [&](const CoremlBuilder::Shape& shape, const std::vector<float>& values) {
    return tensor_value(made, DataType::kFloat32, shape,
                        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  };
  const auto add = [&](const std::string& type, std::vector<std::pair<std::string, Value>> parameters,
                       const std::vector<std::string>& outputs) {
    Operation& operation = model.op(type, {}, outputs[0], {2, 4});
    for (std::size_t i = 1; i < outputs.size(); ++i) {
      NamedType output;
      output.name = made.intern(outputs[i]);
      output.type = tensor_type(made, DataType::kFloat32, {3});
      operation.outputs.emplace_back(output);
    }
    for (auto& [name, value] : parameters) {
      if (has_inputs) {
        Binding binding;
        binding.value.emplace_back(std::move(value));
        Input input;
        input.name = made.intern(name);
        input.argument.edit().bindings.emplace_back(std::move(binding));
        operation.inputs.emplace_back(std::move(input));
      } else {
        Attribute attribute;
        attribute.name = made.intern(name);
        attribute.value = Kept<Value>(std::move(value));
        operation.attributes.emplace_back(std::move(attribute));
      }
    }
  };
  const std::string codes("\x01\xff\x7f\x80\x05\x06\x07\x08", 8), nibbles("\x21\x8f\x43\x65", 4),
      mask("\x45", 1);
  const auto shape = [&] {
    return tensor_value(made, DataType::kUint32, {2}, std::string("\x02\0\0\0\x04\0\0\0", 8));
  };
  if (has_inputs) {
    add("constexpr_blockwise_shift_scale",
        {{"data", model.stored(DataType::kInt4, {2, 4}, nibbles)}, {"scale", floats({2, 2}, {1, 2, 3, 4})}},
        {"blocks"});
    add("constexpr_lut_to_dense",
        {{"indices", model.stored(DataType::kUint3, {2, 4}, std::string("\x88\xc6\xfa", 3))},
         {"lut", floats({1, 1, 8, 1}, {0, 1, 2, 3, 4, 5, 6, 7})}},
        {"table"});
    add("constexpr_lut_to_sparse",
        {{"indices_mask", model.stored(DataType::kUint1, {2, 4}, mask)},
         {"indices_nonzero_data", model.stored(DataType::kUint1, {3}, std::string(1, '\x02'))},
         {"lut", floats({1, 1, 2, 1}, {1, 2})}},
        {"sparse_mask", "sparse_values"});
    model.op("constexpr_sparse_to_dense", {{"mask", "sparse_mask"}, {"nonzero_data", "sparse_values"}},
             "joint", {2, 4});
    add("constexpr_sparse_blockwise_shift_scale",
        {{"data_mask", model.stored(DataType::kUint1, {2, 4}, mask)},
         {"nonzero_data", model.stored(DataType::kInt8, {3}, codes.substr(0, 3))},
         {"scale", floats({2, 1}, {1, 2})}},
        {"scaled_mask", "scaled_values"});
  } else {
    add("constexpr_affine_dequantize",
        {{"quantized_data", model.stored(DataType::kInt8, {2, 4}, codes)},
         {"scale", floats({2}, {0.5F, 2})},
         {"zero_point", tensor_value(made, DataType::kInt8, {2}, std::string("\x01\x02", 2))},
         {"axis", integer_value(made, 0)}},
        {"affine"});
    add("constexpr_lut_to_dense",
        {{"indices", model.stored(DataType::kUint8, {6}, std::string("\x88\xc6\xfa\x01\x02\x03", 6))},
         {"lut", floats({64}, std::vector<float>(64, 0.5F))},
         {"shape", shape()}},
        {"table"});
    add("constexpr_sparse_to_dense",
        {{"nonzero_data", floats({3}, {1, 2, 3})},
         {"mask", model.stored(DataType::kUint8, {1}, mask)},
         {"shape", shape()}},
        {"sparse"});
    add("constexpr_cast",
        {{"source_val", model.stored(DataType::kFloat16, {2, 4}, codes + codes)},
         {"output_dtype", string_value(made, "fp32")}},
        {"cast"});
  }
  model.op("add", {{"x", "x"}, {"y", "table"}}, "y", {2, 4});
  model.output("y", {2, 4});
  return model;
}

}  // namespace ounce::coreml
