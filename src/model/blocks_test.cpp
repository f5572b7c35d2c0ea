#include "model/blocks.h"

#include <gmock/gmock.h>

#include "formats/open.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::model {
namespace {

using test::kFloat;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<GraphBlock> blocks_in(const ModelBuilder& model) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "model.onnx", model.bytes());
  return blocks_of(*formats::open_model(folder / "model.onnx"));
}

TEST(Blocks, TheOutermostNumberedScopeNamesABlock) {
  EXPECT_EQ(numbered_scope("/encoder/layer.3/attention/query/MatMul"), "/encoder/layer.3");
  EXPECT_EQ(numbered_scope("/0/Conv"), "/0");
  EXPECT_EQ(numbered_scope("/head/MatMul_3"), "");
  EXPECT_EQ(numbered_scope("Conv_3"), "");
  EXPECT_EQ(numbered_scope(""), "");
}

TEST(Blocks, AResidualBlockIsReadByTheBlockBehindIt) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2});
  for (const char* name : {"w0", "w1", "w2"}) model.initializer(name, {2, 2}, {1, 2, 3, 4});
  model.node("MatMul", {"x", "w0"}, {"a"}, {}, "/layer.0/MatMul");
  model.node("Relu", {"a"}, {"b"}, {}, "/layer.0/Relu");
  model.node("MatMul", {"b", "w1"}, {"c"}, {}, "/layer.1/MatMul");
  model.node("MatMul", {"c", "w2"}, {"d"}, {}, "/layer.2/MatMul");
  model.node("Add", {"d", "b"}, {"y"}, {}, "/layer.2/Add");
  const std::vector<GraphBlock> blocks = blocks_in(model);
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].name, "/layer.0");
  EXPECT_THAT(blocks[0].ops, ElementsAre("MatMul", "Relu"));
  EXPECT_THAT(blocks[0].nodes, ElementsAre("/layer.0/MatMul", "/layer.0/Relu"));
  EXPECT_THAT(blocks[0].weights, ElementsAre("w0"));
  EXPECT_THAT(blocks[0].predecessors, IsEmpty());
  EXPECT_THAT(blocks[2].predecessors, ElementsAre(0, 1));
}

TEST(Blocks, WithoutNumberedScopesEachNodeWithWeightsBeginsABlock) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2});
  model.initializer("w", {2, 2}, {1, 2, 3, 4}).initializer("b", {2}, {1, 2});
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("Add", {"a", "b"}, {"c"});
  model.node("MatMul", {"c", "w"}, {"y"});
  const std::vector<GraphBlock> blocks = blocks_in(model);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_THAT(blocks[0].ops, ElementsAre("MatMul", "Add"));
  EXPECT_THAT(blocks[0].weights, ElementsAre("b", "w"));
  EXPECT_THAT(blocks[1].predecessors, ElementsAre(0));
}

}  // namespace
}  // namespace ounce::model
