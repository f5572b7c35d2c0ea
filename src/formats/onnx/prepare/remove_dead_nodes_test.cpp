#include "formats/onnx/prepare/remove_nodes.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::field;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::value_info;
using test::expect_same_outputs;
using test::text_of;

ModelBuilder with_relu(std::int64_t ir_version = 8) {
  ModelBuilder model(17, ir_version);
  model.input("x", kFloat, {2}).output("y", kFloat, {2}).node("Relu", {"x"}, {"y"});
  return model;
}

TEST(RemoveDeadNodes, TakesOutWholeRowsAndTheirConstants) {
  ModelBuilder model = with_relu();
  model.initializer("w", {2}, {1, 2}).node("Add", {"x", "w"}, {"a"}).node("Neg", {"a"}, {"b"});
  model.node("Abs", {"b"}, {"c"}).initializer("unused", {1}, {1});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 5U);
  EXPECT_EQ(text_of(changed), "Relu(x) -> y\n");
  expect_same_outputs(model.bytes(), changed, 0);
}

TEST(RemoveDeadNodes, LeavesALivingModelByteForByte) {
  ModelBuilder model = with_relu();
  model.add(13, value_info("x", kFloat, {2}));
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 0U);
  EXPECT_FALSE(changed.proto.is_edited());
}

TEST(RemoveDeadNodes, KeepsWhatSubgraphsUse) {
  GraphBuilder branch;
  branch.output("e", kFloat, {2}).node("Neg", {"a"}, {"e"}).node("Abs", {"b"}, {"nobody"});
  branch.initializer("own", {1}, {1});
  ModelBuilder model = with_relu();
  model.input("which", 9, {}).output("z", kFloat, {2});
  model.node("Exp", {"x"}, {"a"}).node("Sqrt", {"x"}, {"b"});
  model.node(
      "If", {"which"}, {"z"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  onnx::Model changed = read(model.bytes());
  // Abs and `own` in both branches, and then Sqrt, which only Abs used.
  EXPECT_EQ(remove_dead_nodes(changed).count, 5U);
  EXPECT_EQ(text_of(changed),
            "Relu(x) -> y\nExp(x) -> a\nIf(which) -> z\n  then_branch:\n    Neg(a) -> e\n"
            "  else_branch:\n    Neg(a) -> e\n");
  expect_same_outputs(model.bytes(), changed, 0);
}

TEST(RemoveDeadNodes, LetsGoOfWhatOnlyADeadSubgraphUsed) {
  GraphBuilder branch;
  branch.output("e", kFloat, {2}).node("Neg", {"a"}, {"e"});
  ModelBuilder model = with_relu();
  model.input("which", 9, {}).node("Exp", {"x"}, {"a"});
  model.node(
      "If", {"which"}, {"z"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 2U);
  EXPECT_EQ(text_of(changed), "Relu(x) -> y\n");
}

TEST(RemoveDeadNodes, KeepsANodeForOneOfItsOutputs) {
  ModelBuilder model = with_relu();
  model.node("Split", {"x"}, {"", "s"}, {test::ints_attribute("split", {1, 1})});
  model.output("s", kFloat, {1});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 0U);
}

TEST(RemoveDeadNodes, KeepsInitializersThatAreInputs) {
  for (const std::int64_t ir_version : {3, 8}) {
    ModelBuilder model = with_relu(ir_version);
    model.initializer("w", {1}, {1}).input("w", kFloat, {1});
    onnx::Model changed = read(model.bytes());
    EXPECT_EQ(remove_dead_nodes(changed).count, 0U);
    EXPECT_FALSE(changed.proto.is_edited());
  }
}

TEST(RemoveDeadNodes, KeepsInitializersThatTrainingMayUse) {
  ModelBuilder model = with_relu();
  model.initializer("w", {1}, {1});
  model.add_to_model(20, "");
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 0U);
}

TEST(RemoveDeadNodes, KeepsInitializersThatAreOutputs) {
  ModelBuilder model = with_relu();
  model.initializer("w", {1}, {1}).output("w", kFloat, {1});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 0U);
}

TEST(RemoveDeadNodes, DropsTheTypesOfWhatIsGone) {
  ModelBuilder model = with_relu();
  model.node("Neg", {"x"}, {"a"}).add(13, value_info("a", kFloat, {2})).add(13, value_info("y", kFloat, {2}));
  model.add(13, value_info("gone before", kFloat, {2}));
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 1U);
  ASSERT_EQ(changed.proto->graph->value_infos.size(), 1U);
  EXPECT_EQ(changed.proto->graph->value_infos[0]->name, "y");
  EXPECT_FALSE(changed.proto->graph->nodes[0].is_edited());
}

TEST(RemoveDeadNodes, CleansFunctions) {
  const std::string function =
      field(1, std::string("f")) + field(4, std::string("a")) + field(5, std::string("r")) +
      field(7, ounce::test::node("Neg", {"a"}, {"r"})) + field(7, ounce::test::node("Abs", {"a"}, {"u"})) +
      field(9, field(1, std::string()) + field(2, std::int64_t{17})) + field(10, std::string("my"));
  ModelBuilder model = with_relu();
  model.add_to_model(25, function).add_to_model(8, field(1, std::string("my")) + field(2, std::int64_t{1}));
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_dead_nodes(changed).count, 1U);
  EXPECT_EQ(text_of(changed), "Relu(x) -> y\nfunction f:\n  Neg(a) -> r\n");
  EXPECT_FALSE(changed.proto->graph.is_edited());
}

}  // namespace
}  // namespace ounce::passes
