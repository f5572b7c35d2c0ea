#include "formats/onnx/prepare/remove_nodes.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::tensor;
using test::expect_same_outputs;
using test::text_of;
using testing::ElementsAre;
using testing::IsEmpty;

ModelBuilder one_in_one_out(std::int64_t opset = 17) {
  ModelBuilder model(opset);
  model.input("x", kFloat, {2}).output("y", kFloat, {2});
  return model;
}

// Removes identities, checks that outputs do not change, and returns the text of the model.
std::string left_of(const ModelBuilder& model) {
  onnx::Model changed = read(model.bytes());
  EXPECT_THAT(remove_identity(changed).left_alone, IsEmpty());
  expect_same_outputs(model.bytes(), changed, 0);
  return text_of(changed);
}

TEST(RemoveIdentity, ConnectsItsUsersToItsInput) {
  ModelBuilder model = one_in_one_out();
  model.node("Identity", {"x"}, {"a"}).node("Add", {"a", "a"}, {"y"});
  EXPECT_EQ(left_of(model), "Add(x, x) -> y\n");
}

TEST(RemoveIdentity, GoesThroughWholeRowsInAnyOrder) {
  ModelBuilder model = one_in_one_out();
  model.node("Relu", {"x"}, {"r"}).node("Identity", {"r"}, {"a"}).node("Identity", {"a"}, {"b"});
  model.node("Identity", {"b"}, {"c"}).node("Add", {"c", "a"}, {"d"}).node("Identity", {"d"}, {"y"});
  EXPECT_EQ(left_of(model), "Relu(x) -> r\nAdd(r, r) -> y\n");
  ModelBuilder unsorted = one_in_one_out();
  unsorted.node("Relu", {"b"}, {"y"}).node("Identity", {"a"}, {"b"}).node("Identity", {"x"}, {"a"});
  onnx::Model changed = read(unsorted.bytes());
  EXPECT_EQ(remove_identity(changed).count, 2U);
  EXPECT_EQ(text_of(changed), "Relu(x) -> y\n");
}

TEST(RemoveIdentity, GivesTheProducerTheNameOfTheOutput) {
  ModelBuilder model = one_in_one_out();
  model.node("Relu", {"x"}, {"r"}).node("Neg", {"r"}, {"n"}).node("Identity", {"r"}, {"y"});
  model.node("Abs", {"n"}, {"z"}).output("z", kFloat, {2});
  EXPECT_EQ(left_of(model), "Relu(x) -> y\nNeg(y) -> n\nAbs(n) -> z\n");
}

TEST(RemoveIdentity, LeavesWhatHasTwoNamesToKeep) {
  ModelBuilder model = one_in_one_out();
  model.node("Relu", {"x"}, {"r"}).output("r", kFloat, {2}).node("Identity", {"r"}, {"y"}, {}, "from_output");
  model.node("Identity", {"x"}, {"z"}, {}, "from_input").output("z", kFloat, {2});
  model.initializer("w", {2}, {1, 2}).node("Identity", {"w"}, {"v"}, {}, "from_constant");
  model.output("v", kFloat, {2});
  onnx::Model changed = read(model.bytes());
  const std::string why = ": its input and its output must both keep their names";
  EXPECT_THAT(
      remove_identity(changed).left_alone,
      ElementsAre("node 'from_output'" + why, "node 'from_input'" + why, "node 'from_constant'" + why));
  EXPECT_FALSE(changed.proto.is_edited());
}

// Two outputs of one value: one is renamed, the other Identity is kept.
TEST(RemoveIdentity, NamesAProducerOnce) {
  ModelBuilder model = one_in_one_out();
  model.node("Relu", {"x"}, {"r"})
      .node("Identity", {"r"}, {"y"})
      .node("Identity", {"r"}, {"z"}, {}, "second");
  model.output("z", kFloat, {2});
  onnx::Model changed = read(model.bytes());
  const Changes changes = remove_identity(changed);
  EXPECT_EQ(changes.count, 1U);
  EXPECT_EQ(changes.left_alone.size(), 1U);
  EXPECT_EQ(text_of(changed), "Relu(x) -> y\nIdentity(y) -> z\n");
  expect_same_outputs(model.bytes(), changed, 0);
}

TEST(RemoveIdentity, FollowsValuesIntoSubgraphs) {
  // Both branches use the same names for their values.
  const auto branch = [](const std::string& op) {
    GraphBuilder graph;
    graph.output("e", kFloat, {2}).node("Identity", {"a"}, {"i"}).node(op, {"i"}, {"k"});
    graph.node("Identity", {"k"}, {"e"});
    return graph.bytes();
  };
  ModelBuilder model = one_in_one_out();
  model.input("which", 9, {}).node("Relu", {"x"}, {"r"}).node("Identity", {"r"}, {"a"});
  model.node("Identity", {"which"}, {"w"});
  model.node("If", {"w"}, {"y"},
             {graph_attribute("then_branch", branch("Neg")), graph_attribute("else_branch", branch("Abs"))});
  EXPECT_EQ(
      left_of(model),
      "Relu(x) -> r\nIf(which) -> y\n  then_branch:\n    Neg(r) -> e\n  else_branch:\n    Abs(r) -> e\n");
}

TEST(RemoveIdentity, RenamesWhatSubgraphsCapture) {
  GraphBuilder branch;
  branch.output("e", kFloat, {2}).node("Neg", {"r"}, {"e"});
  ModelBuilder model = one_in_one_out();
  model.input("which", 9, {}).output("z", kFloat, {2}).node("Relu", {"x"}, {"r"});
  model.node(
      "If", {"which"}, {"z"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  model.node("Identity", {"r"}, {"y"});
  EXPECT_EQ(
      left_of(model),
      "Relu(x) -> y\nIf(which) -> z\n  then_branch:\n    Neg(y) -> e\n  else_branch:\n    Neg(y) -> e\n");
}

// The output of a branch must be produced in the branch.
TEST(RemoveIdentity, LeavesTheOutputOfABranchThatComesFromOutside) {
  GraphBuilder hands_on, other;
  hands_on.output("e", kFloat, {2}).node("Identity", {"r"}, {"e"}, {}, "inside");
  other.output("e", kFloat, {2}).node("Neg", {"r"}, {"e"});
  ModelBuilder model = one_in_one_out();
  model.input("which", 9, {}).node("Relu", {"x"}, {"r"});
  model.node(
      "If", {"which"}, {"y"},
      {graph_attribute("then_branch", hands_on.bytes()), graph_attribute("else_branch", other.bytes())});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_identity(changed).left_alone.size(), 1U);
  EXPECT_FALSE(changed.proto.is_edited());
}

TEST(RemoveIdentity, TakesDropoutThatDoesNotTrain) {
  ModelBuilder old = one_in_one_out(11);
  old.node("Dropout", {"x"}, {"d"}).node("Relu", {"d"}, {"y"});
  EXPECT_EQ(left_of(old), "Relu(x) -> y\n");
  ModelBuilder plain = one_in_one_out();
  plain.node("Dropout", {"x", "", ""}, {"d", "mask"}).node("Relu", {"d"}, {"y"});
  EXPECT_EQ(left_of(plain), "Relu(x) -> y\n");
  ModelBuilder told = one_in_one_out();
  told.initializer(tensor("no", 9, {}, std::string(1, '\0')));
  told.node("Dropout", {"x", "", "no"}, {"d"}).node("Relu", {"d"}, {"y"});
  EXPECT_EQ(left_of(told), "no = bool[]\nRelu(x) -> y\n");
}

TEST(RemoveIdentity, LeavesDropoutThatDoesSomething) {
  const auto count = [](const ModelBuilder& model) {
    onnx::Model changed = read(model.bytes());
    return remove_identity(changed).count;
  };
  ModelBuilder trains = one_in_one_out();
  trains.initializer(tensor("yes", 9, {}, "\1")).node("Dropout", {"x", "", "yes"}, {"y"});
  EXPECT_EQ(count(trains), 0U);
  ModelBuilder told = one_in_one_out();
  told.input("train", 9, {}).node("Dropout", {"x", "", "train"}, {"d"}).node("Relu", {"d"}, {"y"});
  EXPECT_EQ(count(told), 0U);
  ModelBuilder masked = one_in_one_out();
  masked.output("mask", 9, {2}).node("Dropout", {"x"}, {"d", "mask"}).node("Relu", {"d"}, {"y"});
  EXPECT_EQ(count(masked), 0U);
  ModelBuilder ancient = one_in_one_out(6);
  ancient.node("Dropout", {"x"}, {"d"}).node("Relu", {"d"}, {"y"});
  EXPECT_EQ(count(ancient), 0U);
}

TEST(RemoveIdentity, LeavesTheSameNamedOpOfSomebodyElse) {
  ModelBuilder model = one_in_one_out();
  model.add(1, ounce::test::node("Identity", {"x"}, {"a"}, {}, {}, "custom")).node("Relu", {"a"}, {"y"});
  onnx::Model changed = read(model.bytes());
  EXPECT_EQ(remove_identity(changed).count, 0U);
}

}  // namespace
}  // namespace ounce::passes
