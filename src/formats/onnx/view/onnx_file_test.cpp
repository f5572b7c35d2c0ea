#include "formats/onnx/view/onnx_file.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cstring>

#include "formats/onnx/file/reader.h"
#include "formats/open.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::onnx {
namespace {

using model::NodeView;
using model::ValueView;
using test::error_of;
using test::int_attribute;
using test::kFloat;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class OnnxFileTest : public testing::Test {
 protected:
  model::ModelFilePtr open(const ModelBuilder& model) {
    test::write_file(folder_ / "model.onnx", model.bytes());
    model::ModelFilePtr file = formats::open_model(folder_ / "model.onnx");
    file->validate();
    return file;
  }
  test::TemporaryFolder folder_;
};

ModelBuilder small_model() {
  ModelBuilder model(17, 8);
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 3});
  model.initializer("w", {2, 3}, {1, 2, 3, 4, 5, 6}).initializer("b", {3}, {7, 8, 9});
  model.node("Gemm", {"x", "w", "b"}, {"z"}, {int_attribute("transB", 0)}, "product");
  model.node("Relu", {"z"}, {"y"});
  return model;
}

TEST_F(OnnxFileTest, PortsHaveNamesTypesAndShapes) {
  const auto file = open(small_model());
  ASSERT_EQ(file->inputs().size(), 1U);  // not the initializers
  EXPECT_EQ(file->inputs()[0].name, "x");
  EXPECT_EQ(file->inputs()[0].type, ElementType::kFloat);
  EXPECT_EQ(file->inputs()[0].text, "float32[1,2]");
  ASSERT_EQ(file->outputs().size(), 1U);
  EXPECT_EQ(file->outputs()[0].shape[1].value, 3);
  EXPECT_THAT(file->opsets(), ElementsAre(Pair("ai.onnx", 17)));
  EXPECT_EQ(file->kind(), model::ModelKind::kOnnx);
}

TEST_F(OnnxFileTest, NodesAreConnectedByValues) {
  const auto file = open(small_model());
  ASSERT_EQ(file->graphs().size(), 1U);
  const NodeView &product = file->node({0, 0}), &relu = file->node({0, 1});
  EXPECT_EQ(product.op, "Gemm");
  EXPECT_EQ(product.name, "product");
  EXPECT_EQ(file->label({0, 1}), "Relu#1");
  ASSERT_EQ(relu.inputs.size(), 1U);
  EXPECT_EQ(relu.inputs[0], product.outputs[0]);
  EXPECT_EQ(file->value(relu.inputs[0]).producer, 0U);
  EXPECT_THAT(file->value(relu.inputs[0]).users, ElementsAre(model::NodeId{0, 1}));
  EXPECT_EQ(file->value(product.inputs[0]).input, 0U);
  EXPECT_THAT(file->graphs()[0].outputs, ElementsAre(relu.outputs[0]));
  EXPECT_THAT(file->attributes({0, 0}), ElementsAre(Pair("transB", testing::_)));
}

TEST_F(OnnxFileTest, ConstantsHaveValues) {
  const auto file = open(small_model());
  const model::ValueId weight = file->node({0, 0}).inputs[1];
  const ValueView& view = file->value(weight);
  ASSERT_TRUE(view.constant.has_value());
  EXPECT_EQ(view.name, "w");
  EXPECT_EQ(view.constant->bytes, 6 * sizeof(float));
  EXPECT_THAT(view.constant->dims, ElementsAre(2, 3));
  const auto values = file->read(weight);
  std::vector<float> numbers(6);
  ASSERT_EQ(values->bytes().size(), 6 * sizeof(float));
  std::memcpy(numbers.data(), values->bytes().data(), values->bytes().size());
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(values->floats().size(), 6U);
  EXPECT_FALSE(file->value(file->node({0, 0}).inputs[0]).constant.has_value());
}

TEST_F(OnnxFileTest, MetadataIsSetInACopy) {
  const auto file = open(small_model());
  EXPECT_EQ(model::metadata_of(*file, "key"), std::nullopt);
  formats::write_with_metadata(*file, "key", "value", folder_ / "copy.onnx");
  const auto copy = formats::open_model(folder_ / "copy.onnx");
  EXPECT_EQ(model::metadata_of(*copy, "key"), "value");
  EXPECT_EQ(model::metadata_of(*formats::open_model(folder_ / "model.onnx"), "key"), std::nullopt);
}

TEST_F(OnnxFileTest, AGraphThatDoesNotFitTogetherIsRefusedByValidate) {
  ModelBuilder broken = small_model();
  broken.node("Relu", {"nobody"}, {"more"});
  test::write_file(folder_ / "broken.onnx", broken.bytes());
  const auto file = formats::open_model(folder_ / "broken.onnx");
  EXPECT_EQ(error_of([&] { file->validate(); }).code(), ErrorCode::kBadInput);
}

TEST_F(OnnxFileTest, OtherFormatsAreRecognizedAndRefusedByName) {
  test::write_file(folder_ / "model.bin", std::string("\x1c\0\0\0TFL3", 8) + std::string(64, '\0'));
  EXPECT_EQ(model::detect(folder_ / "model.bin"), model::ModelKind::kTflite);
  const Error broken = error_of([&] { formats::open_model(folder_ / "model.bin"); });
  EXPECT_EQ(broken.code(), ErrorCode::kBadInput);
  EXPECT_THAT(broken.what(), HasSubstr("not a valid TFLite file"));
  std::filesystem::create_directory(folder_ / "model.mlpackage");
  EXPECT_EQ(model::detect(folder_ / "model.mlpackage"), model::ModelKind::kCoreml);
  const Error error = error_of([&] { formats::open_model(folder_ / "model.mlpackage"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("Manifest.json: cannot open"));
  test::write_file(folder_ / "model.onnx", "");
  EXPECT_EQ(model::detect(folder_ / "model.onnx"), model::ModelKind::kOnnx);
  EXPECT_EQ(model::detect(folder_ / "nothing"), std::nullopt);
}

// Changes of one model do not affect the other.
TEST(Clone, IsAModelOfItsOwn) {
  Model model = read_model_from_memory(small_model().bytes(), "model");
  Model copy = clone(model);
  copy.proto.edit().graph.edit().nodes[0].edit().name =
      copy.intern("another name that is longer than a word");
  set_metadata(copy, "key", "value");
  EXPECT_EQ(model.proto->graph->nodes[0]->name, "product");
  EXPECT_TRUE(model.proto->metadata.empty());
  EXPECT_FALSE(model.proto.is_edited());
  model = Model();  // the copy keeps the files open
  EXPECT_EQ(copy.proto->graph->nodes[0]->name, "another name that is longer than a word");
  EXPECT_EQ(copy.proto->graph->nodes[1]->op_type(), "Relu");
}

}  // namespace
}  // namespace ounce::onnx
