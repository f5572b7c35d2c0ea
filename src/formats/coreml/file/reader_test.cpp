#include "formats/coreml/file/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ounce/error.h>

#include <cstring>

#include "formats/coreml/file/blobs.h"
#include "formats/coreml/file/constexpr.h"
#include "formats/coreml/file/description.h"
#include "formats/coreml/file/network.h"
#include "formats/coreml/file/values.h"
#include "formats/coreml/file/writer.h"
#include "support/coreml_builder.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::coreml {
namespace {

using testing::HasSubstr;

template <class Action>
std::string error_of(Action&& action) {
  return test::error_of(action).what();
}

std::string text_of(const io::Rope& rope) {
  std::string text;
  for (const io::Rope::Piece& piece : rope.pieces()) text += io::Rope::bytes_of(piece);
  return text;
}

Model read(const std::string& bytes, const std::string& weights) {
  return read_model_from_memory(bytes, {{kTestWeights, weights}}, "test");
}

std::string refusal(const CoremlBuilder& model) {
  return error_of([&] { validate(read(model.bytes(), model.weight_bytes())); });
}
std::string refusal(const CoremlBuilder& model, const std::string& weights) {
  return error_of([&] { validate(read(model.bytes(), weights)); });
}

template <class T>
void put(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

TEST(CoremlReader, ReadsAProgramWithItsWeights) {
  const Model model = small_coreml().read();
  validate(model);
  ASSERT_TRUE(model.is_program());
  const Block& block = *active_block(*main_function(model)->function);
  const auto conv = std::find_if(block.operations.begin(), block.operations.end(),
                                 [](const auto& operation) { return operation->type == "conv"; });
  ASSERT_NE(conv, block.operations.end());
  EXPECT_EQ(bound_name(**conv, "weight"), "conv_weight");
  const auto weight =
      std::find_if(block.operations.begin(), block.operations.end(), [](const auto& operation) {
        return !operation->outputs.empty() && operation->outputs[0]->name == "conv_weight";
      });
  const Value& value = *(*weight)->attribute("val");
  EXPECT_EQ(value.type.dims, (std::vector<std::int64_t>{24, 8, 3, 3}));
  EXPECT_EQ(value.blob->bytes().size(), 24U * 8 * 9 * 2);
  EXPECT_EQ(describe_model(model).inputs.at(0).name, "x");
}

TEST(CoremlReader, WhatIsReadIsWrittenAgainAsItWas) {
  for (const CoremlBuilder& built :
       {small_coreml(), small_coreml(6, DataType::kFloat32), everything_coreml()}) {
    const std::string bytes = built.bytes();
    const Model model = built.read();
    EXPECT_EQ(text_of(serialize(model)), bytes);
    EXPECT_EQ(text_of(serialize(model, true)), bytes);
  }
}

TEST(CoremlReader, ReadsNestedBlocksFunctionsAndAllTypes) {
  const Model model = everything_coreml().read();
  validate(model);
  EXPECT_EQ(model.program().functions.size(), 2U);
  const Block& block = *active_block(*main_function(model)->function);
  EXPECT_EQ(block.operations.back()->blocks.size(), 2U);
  std::size_t packed = 0;
  for (const auto& operation : block.operations) {
    const Value* const value = operation->attribute("val");
    if (value == nullptr || !value->type.is_tensor() || value->type.type == DataType::kUnused) continue;
    packed += info_of(value->type.type).is_packed() ? 1U : 0U;
  }
  EXPECT_EQ(packed, 12U);
}

TEST(CoremlReader, ReadsValuesInTheProgram) {
  CoremlBuilder model;
  Model& made = model.model;
  EXPECT_EQ(integer_of(integer_value(made, -7)), -7);
  EXPECT_EQ(string_of(string_value(made, "same")), "same");
  EXPECT_EQ(integers_of(tensor_value(made, DataType::kInt4, {3}, std::string("\x8f\x07", 2))),
            (std::vector<std::int64_t>{-1, -8, 7}));
  EXPECT_EQ(integers_of(tensor_value(made, DataType::kUint3, {5}, std::string("\x88\x46", 2))),
            (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(integer_of(string_value(made, "1")));
}

TEST(CoremlReader, EveryPrefixIsRefused) {
  const CoremlBuilder built = small_coreml();
  const std::string bytes = built.bytes(), weights = built.weight_bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const std::string error = error_of([&] { validate(read(bytes.substr(0, size), weights)); });
    EXPECT_FALSE(error.empty()) << size;
  }
}

// --- Weight files

class CoremlWeights : public testing::Test {
 protected:
  CoremlBuilder model = small_coreml();
  std::string weights = model.weight_bytes();
};

TEST_F(CoremlWeights, OutsideOfTheFileAreRefused) {
  EXPECT_THAT(refusal(model, weights.substr(0, weights.size() - 1)), HasSubstr("outside of the file"));
  EXPECT_THAT(refusal(model, weights.substr(0, 100)), HasSubstr("outside of the file"));
  EXPECT_THAT(refusal(model, weights.substr(0, 10)), HasSubstr("too short"));
}

TEST_F(CoremlWeights, OfAnotherSizeOrTypeAreRefused) {
  std::string broken = weights;
  put(broken, 64 + 4, std::uint32_t{4});
  EXPECT_THAT(refusal(model, broken), HasSubstr("type"));
  broken = weights;
  put(broken, 64 + 8, std::uint64_t{24 * 8 * 9 * 2 + 2});
  EXPECT_THAT(refusal(model, broken), HasSubstr("does not match its shape"));
  broken = weights;
  put(broken, 64 + 8, ~std::uint64_t{0});
  EXPECT_THAT(refusal(model, broken), HasSubstr("outside of the file"));
  broken = weights;
  put(broken, 64 + 16, ~std::uint64_t{0});
  EXPECT_THAT(refusal(model, broken), HasSubstr("outside of the file"));
}

TEST_F(CoremlWeights, WithoutTheirMarkOrVersionAreRefused) {
  std::string broken = weights;
  put(broken, 64, std::uint32_t{0});
  EXPECT_THAT(refusal(model, broken), HasSubstr("no blob begins"));
  broken = weights;
  put(broken, 4, std::uint32_t{3});
  EXPECT_THAT(refusal(model, broken), HasSubstr("version 3"));
}

TEST_F(CoremlWeights, ThatOverlapAreRefused) {
  std::string broken = weights;
  const std::uint64_t second = aligned(128 + 24 * 8 * 9 * 2);
  put(broken, second + 16, std::uint64_t{128});  // the values of the first
  EXPECT_THAT(refusal(model, broken), HasSubstr("outside of the file"));
  put(broken, 64 + 16, std::uint64_t{192});  // the values of the first begin later and reach into the second
  put(broken, second + 16, second + 64);
  EXPECT_THAT(refusal(model, broken), HasSubstr("share their bytes"));
}

TEST_F(CoremlWeights, MayBeSharedByTwoValues) {
  Value shared = *model.block().operations[5]->attribute("val");
  ASSERT_TRUE(shared.blob.has_value());
  model.constant("again", shared);
  validate(read(model.bytes(), weights));
}

// --- Names

TEST(CoremlValidate, UsesBeforeDefinitionsAreRefused) {
  CoremlBuilder model;
  model.input("x", {1});
  model.op("relu", {{"x", "b"}}, "a", {1});
  model.op("relu", {{"x", "a"}}, "b", {1});  // a cycle
  model.output("b", {1});
  EXPECT_THAT(refusal(model), HasSubstr("uses 'b' before it is defined"));
}

TEST(CoremlValidate, NamesDefinedTwiceAreRefused) {
  CoremlBuilder model;
  model.input("x", {1});
  model.op("relu", {{"x", "x"}}, "x", {1});
  EXPECT_THAT(refusal(model), HasSubstr("'x' is defined twice"));
}

TEST(CoremlValidate, AMissingOpsetAndAMissingOutputAreRefused) {
  CoremlBuilder model;
  model.input("x", {1}).output("y", {1});
  EXPECT_THAT(refusal(model), HasSubstr("'y' before it is defined"));
  CoremlBuilder other = small_coreml();
  other.model.proto.edit().program[0].edit().functions[0].edit().function.edit().opset = "CoreML9";
  EXPECT_THAT(refusal(other), HasSubstr("no program for its opset"));
}

TEST(CoremlValidate, DeepNestingIsRefused) {
  CoremlBuilder model;
  model.input("x", {1});
  Block inner;
  for (int i = 0; i < kMaxNesting + 2; ++i) {
    Operation operation;
    operation.type = "cond";
    operation.blocks.emplace_back(inner);
    Block outer;
    outer.operations.emplace_back(std::move(operation));
    inner = std::move(outer);
  }
  model.block().operations.push_back(inner.operations[0]);
  EXPECT_THAT(refusal(model), HasSubstr("nested more than"));
}

TEST(CoremlValidate, ValuesOfAnotherNumberThanTheirShapeAreRefused) {
  CoremlBuilder model;
  Value value = integer_value(model.model, 1);
  value.type = tensor_type(model.model, DataType::kInt32, {5});
  model.constant("c", value);
  EXPECT_THAT(refusal(model), HasSubstr("does not match its shape"));
}

// --- Packages

class CoremlPackage : public testing::Test {
 protected:
  CoremlPackage() { small_coreml().write(package); }
  std::string refused() const {
    return error_of([&] { read_model(package); });
  }
  void manifest(const std::string& path) const {
    test::write_file(package / "Manifest.json", R"({"itemInfoEntries": {"A": {"path": ")" + path +
                                                    R"("}}, "rootModelIdentifier": "A"})");
  }

  test::TemporaryFolder folder;
  std::filesystem::path package = folder.path() / "net.mlpackage";
};

TEST_F(CoremlPackage, IsRead) {
  const Model model = read_model(package);
  EXPECT_EQ(model.location, "Data/com.apple.CoreML/model.mlmodel");
  EXPECT_EQ(model.weights.size(), 1U);
  EXPECT_EQ(model.others, std::vector<std::filesystem::path>{"Manifest.json"});
}

TEST_F(CoremlPackage, PathsThatLeaveItAreRefused) {
  manifest("../../../etc/passwd");
  EXPECT_THAT(refused(), HasSubstr("leads outside"));
  manifest("/etc/passwd");
  EXPECT_THAT(refused(), HasSubstr("leads outside"));
  manifest("com.apple.CoreML/missing");
  EXPECT_THAT(refused(), HasSubstr("cannot open"));
}

TEST_F(CoremlPackage, ManifestsThatMakeNoSenseAreRefused) {
  for (const char* text : {"", "[]", "{", R"({"rootModelIdentifier": "A"})",
                           R"({"itemInfoEntries": [], "rootModelIdentifier": 1})",
                           R"({"itemInfoEntries": {"B": {}}, "rootModelIdentifier": "A"})"}) {
    test::write_file(package / "Manifest.json", text);
    EXPECT_THAT(refused(), HasSubstr("manifest")) << text;
  }
}

TEST_F(CoremlPackage, LinksThatLeaveItAreRefused) {
  const auto weights = package / "Data/com.apple.CoreML/weights/weight.bin";
  std::filesystem::rename(weights, folder.path() / "weight.bin");
  std::filesystem::create_symlink(folder.path() / "weight.bin", weights);
  EXPECT_THAT(refused(), HasSubstr("outside of the model's folder"));
}

TEST_F(CoremlPackage, WeightFilesOutsideOfItAreRefused) {
  for (const char* name : {"../weight.bin", "@model_path/../weight.bin", "@model_path//etc/passwd",
                           "/etc/passwd", "@model_path/model.mlmodel", ""}) {
    CoremlBuilder model;
    Value value = model.stored(DataType::kInt8, {16}, std::string(16, 'x'));
    value.blob->file = name;
    model.constant("c", value);
    std::filesystem::remove_all(package);
    model.write(package);
    EXPECT_THAT(refused(), testing::AnyOf(HasSubstr("outside of the package"),
                                          HasSubstr("two different files"), HasSubstr("cannot open")))
        << name;
  }
}

TEST_F(CoremlPackage, AProgramWithoutItsPackageIsRefused) {
  const auto file = package / "Data/com.apple.CoreML/model.mlmodel";
  EXPECT_THAT(error_of([&] { read_model(file); }), HasSubstr("needs its package"));
}

// --- Neural networks

TEST(CoremlNetwork, ReadsWeightsOfAllForms) {
  const Model model = read_model_from_memory(neural_network(), {}, "test");
  const std::vector<Layer> layers = read_layers(model);
  ASSERT_EQ(layers.size(), 2U);
  ASSERT_EQ(layers[0].weights.size(), 2U);
  // 4-bit values, highest bits first: 1 2 3 4 | 5 6 7 8 with two scales and biases.
  EXPECT_EQ(decode(layers[0].weights[0]), (std::vector<float>{-0.5F, 0, 0.5F, 1, 11, 13, 15, 17}));
  EXPECT_EQ(decode(layers[0].weights[1]), (std::vector<float>{1, 2}));
  EXPECT_EQ(decode(layers[1].weights[0]), (std::vector<float>{1, 2, 3, 4}));
}

// --- Compressed weights

std::vector<float> decoded(const std::string& type,
                           const std::vector<std::pair<std::string, Value>>& parameters, bool are_inputs) {
  Operation operation;
  operation.type = type;
  for (const auto& [name, value] : parameters) {
    if (are_inputs) {
      Binding binding;
      binding.value.emplace_back(value);
      Input input;
      input.name = name;
      input.argument.edit().bindings.emplace_back(binding);
      operation.inputs.emplace_back(input);
    } else {
      Attribute attribute;
      attribute.name = name;
      attribute.value = Kept<Value>(value);
      operation.attributes.emplace_back(attribute);
    }
  }
  return decode_constexpr(operation, [](Bytes) -> DecodedTensor { return {}; }).back().values;
}

class CoremlConstexpr : public testing::Test {
 protected:
  Value of(DataType type, const std::vector<std::int64_t>& dims, const std::string& bytes) {
    return tensor_value(model.model, type, dims, bytes);
  }
  Value floats(const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return of(DataType::kFloat32, dims, {reinterpret_cast<const char*>(values.data()), values.size() * 4});
  }
  CoremlBuilder model;
};

TEST_F(CoremlConstexpr, DecodesLinearForms) {
  EXPECT_EQ(decoded("constexpr_affine_dequantize",
                    {{"quantized_data", of(DataType::kInt8, {2, 2}, std::string("\x01\x02\xff\x80", 4))},
                     {"zero_point", of(DataType::kInt8, {}, std::string(1, '\1'))},
                     {"scale", floats({2}, {0.5F, 2.0F})},
                     {"axis", integer_value(model.model, 0)}},
                    false),
            (std::vector<float>{0, 0.5F, -4, -258}));
  EXPECT_EQ(decoded("constexpr_blockwise_shift_scale",
                    {{"data", of(DataType::kInt4, {1, 4}, std::string("\x21\x8f", 2))},
                     {"scale", floats({1, 2}, {1, 10})}},
                    true),
            (std::vector<float>{1, 2, -10, -80}));
}

TEST_F(CoremlConstexpr, DecodesTables) {
  EXPECT_EQ(decoded("constexpr_lut_to_dense",
                    {{"indices", of(DataType::kUint8, {2}, std::string("\xcc\x03", 2))},
                     {"lut", floats({4}, {1, 2, 3, 4})},
                     {"shape", of(DataType::kUint32, {1}, std::string("\x05\0\0\0", 4))}},
                    false),
            (std::vector<float>{1, 4, 1, 4, 4}));
  // Two tables for one row each.
  EXPECT_EQ(decoded("constexpr_lut_to_dense",
                    {{"indices", of(DataType::kUint1, {2, 2}, std::string(1, '\x0a'))},
                     {"lut", floats({2, 1, 2, 1}, {1, 2, 10, 20})}},
                    true),
            (std::vector<float>{1, 2, 10, 20}));
  // Vectors of length two along the first axis.
  EXPECT_EQ(decoded("constexpr_lut_to_dense",
                    {{"indices", of(DataType::kUint1, {1, 2}, std::string(1, '\x02'))},
                     {"lut", floats({1, 1, 2, 2}, {1, 2, 10, 20})},
                     {"vector_axis", integer_value(model.model, 0)}},
                    true),
            (std::vector<float>{1, 10, 2, 20}));
}

TEST_F(CoremlConstexpr, DecodesSparseForms) {
  EXPECT_EQ(decoded("constexpr_sparse_to_dense",
                    {{"nonzero_data", floats({2}, {5, 6})},
                     {"mask", of(DataType::kUint1, {1, 4}, std::string(1, '\x0a'))}},
                    true),
            (std::vector<float>{0, 5, 0, 6}));
  EXPECT_EQ(decoded("constexpr_lut_to_sparse",
                    {{"indices_mask", of(DataType::kUint1, {4}, std::string(1, '\x05'))},
                     {"indices_nonzero_data", of(DataType::kUint1, {2}, std::string(1, '\x02'))},
                     {"lut", floats({1, 2, 1}, {7, 8})}},
                    true),
            (std::vector<float>{7, 8}));
}

TEST_F(CoremlConstexpr, WhatDoesNotFitTogetherIsRefused) {
  const auto refused = [&](const std::vector<std::pair<std::string, Value>>& parameters) {
    return error_of([&] { decoded("constexpr_blockwise_shift_scale", parameters, true); });
  };
  const Value data = of(DataType::kInt4, {1, 4}, std::string("\x21\x8f", 2));
  EXPECT_THAT(refused({{"data", data}}), HasSubstr("lacks"));
  EXPECT_THAT(refused({{"data", data}, {"scale", floats({1, 3}, {1, 1, 1})}}), HasSubstr("do not divide"));
  EXPECT_THAT(refused({{"data", data}, {"scale", floats({4}, {1, 1, 1, 1})}}), HasSubstr("another rank"));
}

}  // namespace
}  // namespace ounce::coreml
