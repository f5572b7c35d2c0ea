#include "formats/coreml/view/coreml_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/coreml_builder.h"
#include "support/temporary_folder.h"

namespace ounce::coreml {
namespace {

const model::NodeView& node_of(const CoremlFile& file, std::string_view op) {
  const auto& nodes = file.graphs()[0].nodes;
  return *std::find_if(nodes.begin(), nodes.end(),
                       [&](const model::NodeView& node) { return node.op == op; });
}

TEST(CoremlFile, ShowsAProgram) {
  const CoremlFile file(small_coreml(7).read());
  file.validate();
  EXPECT_EQ(file.inputs()[0].text, "float16[1,8,6,6]");
  EXPECT_EQ(file.outputs()[0].text, "float16[1,10]");
  EXPECT_EQ(file.producer(), "coremltools 9.0");
  EXPECT_EQ(file.opsets(), (std::vector<std::pair<std::string, std::int64_t>>{{"CoreML", 6}}));
  EXPECT_EQ(file.graphs()[0].nodes.size(), 5U);  // constants are not nodes
  // Sorted parameters: bias, dilations, groups, pad, pad_type, strides, weight, x.
  const model::NodeView& conv = node_of(file, "conv");
  ASSERT_EQ(conv.inputs.size(), 8U);
  EXPECT_EQ(file.value(conv.inputs[0]).name, "conv_bias");
  const model::ValueView& weight = file.value(conv.inputs[6]);
  EXPECT_EQ(weight.name, "conv_weight");
  EXPECT_EQ(weight.constant->bytes, 24U * 8 * 9 * 2);
  EXPECT_EQ(file.value(conv.inputs[7]).input, 0U);
  const auto values = file.read(conv.inputs[6]);
  EXPECT_EQ(values->floats().size(), 24U * 8 * 9);
}

TEST(CoremlFile, ShowsBodiesAndFunctions) {
  const CoremlFile file(everything_coreml().read());
  ASSERT_EQ(file.graphs().size(), 6U);  // main with two blocks, and a second function with two
  EXPECT_TRUE(file.graphs()[1].is_body);
  EXPECT_THAT(file.graphs()[1].path, testing::HasSubstr("while_loop 'looped'"));
  EXPECT_TRUE(file.graphs()[3].is_function);
}

TEST(CoremlFile, ShowsTheLayersOfANeuralNetwork) {
  test::TemporaryFolder folder;
  test::write_file(folder / "net.mlmodel", neural_network());
  const auto file = open_file(folder / "net.mlmodel");
  ASSERT_EQ(file->graphs()[0].nodes.size(), 2U);
  EXPECT_EQ(file->graphs()[0].nodes[0].op, "innerProduct");
  EXPECT_EQ(file->files().size(), 1U);
  EXPECT_EQ(file->bytes(), neural_network().size());
}

TEST(CoremlFile, WritesMetadataAndChangesNothingElse) {
  test::TemporaryFolder folder;
  everything_coreml().write(folder / "net.mlpackage");
  write_with_metadata(*open_file(folder / "net.mlpackage"), "key", "value", folder / "out.mlpackage");
  const auto written = open_file(folder / "out.mlpackage");
  EXPECT_EQ(model::metadata_of(*written, "key"), "value");
  const std::string weights = "Data/com.apple.CoreML/weights/weight.bin", manifest = "Manifest.json";
  EXPECT_EQ(test::read_file(folder / "out.mlpackage" / weights),
            test::read_file(folder / "net.mlpackage" / weights));
  EXPECT_EQ(test::read_file(folder / "out.mlpackage" / manifest),
            test::read_file(folder / "net.mlpackage" / manifest));
  write_with_metadata(*written, "key", "other", folder / "out.mlpackage");  // overwrites its own package
  EXPECT_EQ(model::metadata_of(*open_file(folder / "out.mlpackage"), "key"), "other");
}

TEST(CoremlFile, OnlyAPackageIsReplaced) {
  test::TemporaryFolder folder;
  small_coreml().write(folder / "net.mlpackage");
  std::filesystem::create_directories(folder / "other.mlpackage");
  test::write_file(folder / "other.mlpackage" / "letter.txt", "dear");
  EXPECT_THROW(
      write_with_metadata(*open_file(folder / "net.mlpackage"), "k", "v", folder / "other.mlpackage"), Error);
  EXPECT_EQ(test::read_file(folder / "other.mlpackage" / "letter.txt"), "dear");
}

}  // namespace
}  // namespace ounce::coreml
