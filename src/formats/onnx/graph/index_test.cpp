#include "formats/onnx/graph/index.h"

#include <gtest/gtest.h>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"

namespace ounce::graph {
namespace {

using test::field;
using test::graph_attribute;
using test::GraphBuilder;
using test::kFloat;
using test::ModelBuilder;

onnx::Model read(const GraphBuilder& model) { return onnx::read_model_from_memory(model.bytes(), "test"); }

// main: w (initializer), x (input). An If captures both, and an If in its branch captures w again.
ModelBuilder nested() {
  const std::string innermost =
      GraphBuilder().node("Mul", {"w", "w"}, {"p"}, {}, "deep").output("p", kFloat, {1}).bytes();
  GraphBuilder branch;
  branch.initializer("b", {1}, {1}).node("Add", {"x", "w"}, {"s"}, {}, "add");
  branch.node("If", {}, {"t"}, {graph_attribute("then_branch", innermost)}, "inner")
      .output("t", kFloat, {1})
      .output("w", kFloat, {1});
  ModelBuilder model;
  model.input("x", kFloat, {1}).initializer("w", {1}, {1}).node("Relu", {"w"}, {"r"}, {}, "relu");
  model.node("If", {"r"}, {"y"}, {graph_attribute("then_branch", branch.bytes())}, "outer")
      .output("y", kFloat, {1});
  model.add_to_model(25, field(1, std::string("f")) + field(4, std::string("x")) +
                             field(7, test::node("Neg", {"x"}, {"n"})));
  return model;
}

class IndexTest : public testing::Test {
 protected:
  std::size_t body_called(const std::string& path) const {
    for (std::size_t i = 0; i < index.bodies().size(); ++i) {
      if (index.bodies()[i].path == path) return i;
    }
    ADD_FAILURE() << "no body " << path;
    return 0;
  }
  onnx::Model model_of_branches = read(nested());
  Index index{model_of_branches};
};

TEST_F(IndexTest, NumbersEveryBodyWithParentsFirst) {
  ASSERT_EQ(index.bodies().size(), 4U);
  EXPECT_EQ(index.main().path, "");
  const std::size_t branch = body_called("outer/then_branch");
  const std::size_t deep = body_called("outer/then_branch/inner/then_branch");
  EXPECT_EQ(index.bodies()[branch].parent, 0U);
  EXPECT_EQ(index.bodies()[branch].owner, 1U);
  EXPECT_EQ(index.bodies()[deep].parent, branch);
  EXPECT_LT(branch, deep);
  EXPECT_EQ(index.root(deep), 0U);
  const std::size_t function = body_called("function f");
  EXPECT_EQ(index.root(function), function);
  EXPECT_NE(index.bodies()[function].function, nullptr);
}

TEST_F(IndexTest, CountsUsesInAllBodiesInside) {
  const Value& weight = index.main().values.at("w");
  EXPECT_EQ(weight.initializer, 0U);
  ASSERT_EQ(weight.uses.size(), 4U);  // relu, add, and twice in deep
  std::vector<std::string> users;
  for (const Use& use : weight.uses) users.emplace_back(index.node(use).name);
  EXPECT_EQ(users, (std::vector<std::string>{"relu", "add", "deep", "deep"}));
  EXPECT_EQ(weight.uses[2].input, 0U);
  EXPECT_EQ(weight.uses[3].input, 1U);
}

TEST_F(IndexTest, AnInputOfAFunctionIsNotTheOneOfTheGraph) {
  EXPECT_EQ(index.main().values.at("x").uses.size(), 1U);
  const Body& function = index.bodies()[body_called("function f")];
  EXPECT_EQ(function.values.at("x").uses.size(), 1U);
  EXPECT_TRUE(function.values.at("x").is_input);
}

TEST_F(IndexTest, KnowsWhatIsUnused) {
  const Body& branch = index.bodies()[body_called("outer/then_branch")];
  EXPECT_TRUE(branch.values.at("b").uses.empty());
  EXPECT_EQ(branch.values.at("b").initializer, 0U);
}

TEST_F(IndexTest, AnOuterValueThatASubgraphGivesBackIsAnOutput) {
  EXPECT_TRUE(index.main().values.at("w").is_output);
  EXPECT_TRUE(index.main().values.at("y").is_output);
  EXPECT_FALSE(index.main().values.at("r").is_output);
}

TEST_F(IndexTest, FindsNamesThroughTheScopes) {
  const std::size_t branch = body_called("outer/then_branch");
  const std::size_t deep = body_called("outer/then_branch/inner/then_branch");
  EXPECT_EQ(index.find(deep, "w").body, 0U);
  EXPECT_EQ(index.find(deep, "s").body, branch);
  EXPECT_EQ(index.find(deep, "p").body, deep);
  EXPECT_EQ(index.find(0, "s").value, nullptr);
  EXPECT_EQ(index.find(body_called("function f"), "w").value, nullptr);
  EXPECT_EQ(index.find(deep, "nothing").value, nullptr);
}

TEST(IndexOfListsTest, ListsOfGraphsAreNumbered) {
  const std::string attribute =
      field(1, std::string("branches")) + field(11, std::string()) + field(11, std::string());
  const onnx::Model model = read(ModelBuilder().node("Switch", {}, {}, {attribute}));
  const Index index(model);
  ASSERT_EQ(index.bodies().size(), 3U);
  EXPECT_EQ(index.bodies()[1].path, "Switch#0/branches[0]");
  EXPECT_EQ(index.bodies()[2].path, "Switch#0/branches[1]");
  EXPECT_EQ(index.bodies()[2].position, 1U);
}

}  // namespace
}  // namespace ounce::graph
