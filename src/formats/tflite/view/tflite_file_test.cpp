#include "formats/tflite/view/tflite_file.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "formats/open.h"
#include "formats/tflite/file/writer.h"
#include "fuzz/sample_tflites.h"
#include "support/error_of.h"
#include "support/example_tflite.h"
#include "support/temporary_folder.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

using model::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

class TfliteFileTest : public testing::Test {
 protected:
  model::ModelFilePtr open(const std::string& bytes, const char* name = "m.tflite") {
    test::write_file(folder_ / name, bytes);
    model::ModelFilePtr file = formats::open_model(folder_ / name);
    file->validate();
    return file;
  }
  test::TemporaryFolder folder_;
};

TEST_F(TfliteFileTest, FilesAreKnownByTheirBytes) {
  EXPECT_EQ(open(to_bytes(small_tflite()), "no_extension")->kind(), model::ModelKind::kTflite);
}

TEST_F(TfliteFileTest, PortsHaveNamesTypesAndShapes) {
  const auto file = open(to_bytes(everything_tflite()));
  ASSERT_EQ(file->inputs().size(), 2U);
  EXPECT_EQ(file->inputs()[0].name, "x");
  EXPECT_EQ(file->inputs()[0].text, "float32[?,4]");
  EXPECT_EQ(file->inputs()[0].shape[0].value, -1);
  EXPECT_EQ(file->inputs()[1].text, "bool[]");
  EXPECT_EQ(file->outputs()[2].type, ElementType::kString);
  EXPECT_EQ(file->schema_version(), 3);
}

TEST_F(TfliteFileTest, PortsAreCalledAsTheSignatureCallsThem) {
  Model model = small_tflite();
  model.signatures[0].inputs[0].name = "image";
  EXPECT_EQ(open(to_bytes(model))->inputs()[0].name, "image");
  model.signatures.clear();
  model.subgraphs[0].tensors[0].name = {};
  EXPECT_EQ(open(to_bytes(model))->inputs()[0].name, "input_0");
}

TEST_F(TfliteFileTest, OperatorsAreConnectedByTensors) {
  const auto file = open(to_bytes(small_tflite()));
  ASSERT_EQ(file->graphs().size(), 1U);
  const model::GraphView& graph = file->graphs()[0];
  ASSERT_EQ(graph.nodes.size(), 5U);
  EXPECT_EQ(graph.nodes[0].op, "CONV_2D");
  EXPECT_EQ(graph.nodes[0].name, "c");
  EXPECT_EQ(graph.values[0].input, 0U);
  EXPECT_THAT(graph.values[0].users, ElementsAre(model::NodeId{0, 0}));
  EXPECT_EQ(graph.values[1].producer, 0U);
  EXPECT_TRUE(graph.nodes[3].inputs[2].is_absent());
  ASSERT_TRUE(file->value(graph.nodes[0].inputs[1]).constant.has_value());
  EXPECT_EQ(file->value(graph.nodes[0].inputs[1]).constant->bytes, 72U);
  EXPECT_THAT(graph.outputs, ElementsAre(ValueId{0, 5}));
  EXPECT_THAT(file->opsets(),
              UnorderedElementsAre(Pair("CONV_2D", 1), Pair("MAX_POOL_2D", 1), Pair("RESHAPE", 1),
                                   Pair("FULLY_CONNECTED", 1), Pair("SOFTMAX", 1)));
}

TEST_F(TfliteFileTest, SubgraphsAreBodies) {
  const auto file = open(to_bytes(everything_tflite()));
  ASSERT_EQ(file->graphs().size(), 4U);
  EXPECT_EQ(file->graphs()[1].path, "then");
  EXPECT_TRUE(file->graphs()[1].is_body);
  EXPECT_EQ(file->graphs()[0].nodes[2].op, "Twice");
  EXPECT_EQ(file->graphs()[0].nodes[2].domain, "custom");
  EXPECT_THAT(file->external(), ElementsAre(Pair("weights.bin", 16U)));
}

TEST_F(TfliteFileTest, ValuesOfAnyFormAreRead) {
  const auto file = open(to_bytes(everything_tflite()));
  std::size_t seen = 0;
  for (std::size_t i = 0; i < file->graphs()[0].values.size(); ++i) {
    const model::ValueView& value = file->graphs()[0].values[i];
    if (!value.constant) continue;
    const auto values = file->read({0, i});
    if (value.name == "words") {
      EXPECT_EQ(values->bytes(), "3:yes2:no");
    }
    if (value.name == "sparse") {
      EXPECT_EQ(values->floats().size(), 16U);
    }
    if (value.name == "scales") {
      EXPECT_EQ(values->floats().size(), 4U);
    }
    if (value.name == "four_bits") {
      EXPECT_EQ(values->bytes().size(), 5U);
    }
    ++seen;
  }
  EXPECT_EQ(seen, 4U);  // not what is in another file
}

TEST_F(TfliteFileTest, AttributesTellWhatIsDifferent) {
  Model model = small_tflite();
  const auto before = open(to_bytes(model), "a.tflite");
  model.subgraphs[0].operators[0].options.table->set("padding", std::int64_t{1});
  const auto after = open(to_bytes(model), "b.tflite");
  const auto ours = before->attributes({0, 0}), theirs = after->attributes({0, 0});
  EXPECT_FALSE(ours.contains("padding"));
  EXPECT_TRUE(theirs.contains("padding"));
  EXPECT_EQ(ours.at("stride_w"), theirs.at("stride_w"));
}

TEST_F(TfliteFileTest, AttributesTellWhichScalesAreDifferent) {
  Model model = quantized_tflite();
  const auto before = open(to_bytes(model), "a.tflite");
  model.subgraphs[0].tensors[3].quantization->scale[1] = 0.3F;
  const auto after = open(to_bytes(model), "b.tflite");
  EXPECT_NE(before->attributes({0, 0}).at("quantization"), after->attributes({0, 0}).at("quantization"));
  EXPECT_EQ(before->attributes({0, 1}), after->attributes({0, 1}));
  EXPECT_FALSE(open(to_bytes(small_tflite()))->attributes({0, 0}).contains("quantization"));
}

TEST_F(TfliteFileTest, IntegerPortsStandForFloats) {
  const auto ports = open(to_bytes(quantized_tflite()))->quantized_ports();
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].name, "x");
  EXPECT_TRUE(ports[0].is_input);
  EXPECT_EQ(ports[0].type, ElementType::kInt8);
  EXPECT_THAT(ports[0].scales, ElementsAre(0.5F));
  EXPECT_THAT(ports[0].zeros, ElementsAre(-3.0F));
}

TEST_F(TfliteFileTest, RowsOfTablesLimitTheirIndices) {
  TfliteBuilder model;
  const auto ids = model.tensor("ids", {1, 4}, TensorType::kInt64),
             cast = model.tensor("cast", {1, 4}, TensorType::kInt32), y = model.tensor("y", {1, 4, 2});
  const auto table = model.weights("table", {7, 2}, std::vector<float>(14));
  model.op(Builtin::kCast, {ids}, {cast});
  model.op(Builtin::kGather, {table, cast}, {y}, "GatherOptions");
  model.inputs({ids}).outputs({y});
  EXPECT_THAT(open(model.bytes())->table_rows(), ElementsAre(Pair("ids", 7)));
}

TEST_F(TfliteFileTest, MetadataAreReadAndWritten) {
  test::write_file(folder_ / "m.tflite", with_archive(everything_tflite(), true));
  const auto file = formats::open_model(folder_ / "m.tflite");
  EXPECT_EQ(model::metadata_of(*file, "min_runtime_version"), "2.9.0");
  EXPECT_TRUE(model::metadata_of(*file, "associated file labels.txt").has_value());
  formats::write_with_metadata(*file, "ounce.contract", "{}", folder_ / "n.tflite");
  const auto written = formats::open_model(folder_ / "n.tflite");
  EXPECT_EQ(model::metadata_of(*written, "ounce.contract"), "{}");
  EXPECT_EQ(written->metadata().size(), file->metadata().size() + 1);
}

TEST_F(TfliteFileTest, WhatIsBinaryIsShownAsADigest) {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1});
  model.inputs({x}).outputs({x}).metadata("TFLITE_METADATA", std::string("\x1c\0\0\0M001", 8));
  EXPECT_THAT(model::metadata_of(*open(model.bytes()), "TFLITE_METADATA").value_or(""),
              HasSubstr("8 bytes, digest "));
}

// tests/cli/make_tflites writes it again, as example.tflite, when the ONNX model or the writer changes.
TEST(TfliteExampleTest, IsTheOnnxExampleChannelsLast) {
  const std::filesystem::path folder = OUNCE_EXAMPLES "/commands";
  EXPECT_TRUE(test::read_file(folder / "commands.tflite") ==
              to_bytes(example_tflite(folder / "commands.onnx")));
}

}  // namespace
}  // namespace ounce::tflite
