#include "search/tune/layers.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"

namespace ounce::search {
namespace {

using ounce::test::field;
using ounce::test::GraphBuilder;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<float> ones(std::size_t count) { return std::vector<float>(count, 1.0F); }

struct LayersTest : testing::Test {
  std::vector<Layer> layers_of(const ModelBuilder& builder) {
    bytes = builder.bytes();
    const onnx::Model model = onnx::read_model_from_memory(bytes, "model");
    return find_layers(graph::validate(model));
  }
  std::string bytes;
};

std::vector<std::string> names_of(const std::vector<Layer>& layers) {
  std::vector<std::string> names;
  for (const Layer& layer : layers) names.push_back(layer.name);
  return names;
}
template <class Is>
std::vector<std::string> those(const std::vector<Layer>& layers, Is is) {
  std::vector<std::string> names;
  for (const Layer& layer : layers) {
    if (layer.*is) names.push_back(layer.name);
  }
  return names;
}

ModelBuilder two_ways() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 32}).output("y", kFloat, {1, 32});
  for (const char* name : {"a", "b", "c", "d"}) model.initializer(name, {32, 32}, ones(1024));
  model.initializer("tiny", {32, 2}, ones(64));
  return model;
}

TEST_F(LayersTest, FirstAndLastFollowTheValuesAndNotTheFile) {
  ModelBuilder model = two_ways();
  model.node("MatMul", {"x", "a"}, {"left"}, {}, "one").node("MatMul", {"x", "b"}, {"right"}, {}, "two");
  model.node("Add", {"left", "right"}, {"sum"}).node("MatMul", {"sum", "c"}, {"z"}, {}, "three");
  model.node("MatMul", {"z", "d"}, {"y"}, {}, "four");
  const auto layers = layers_of(model);
  EXPECT_THAT(names_of(layers), ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(those(layers, &Layer::is_first), ElementsAre("one", "two"));
  EXPECT_THAT(those(layers, &Layer::is_last), ElementsAre("four"));
  EXPECT_THAT(those(layers, &Layer::is_attention), IsEmpty());
  EXPECT_EQ(layers[0].output, "left");
  EXPECT_EQ(layers[0].values, 1024U);
  EXPECT_THAT(layers[0].expressions, ElementsAre("^one$"));
}

TEST_F(LayersTest, WeightsOfLessThanAKilobyteAreNoLayers) {
  ModelBuilder model = two_ways();
  model.node("MatMul", {"x", "tiny"}, {"y"}, {}, "small");
  EXPECT_THAT(layers_of(model), IsEmpty());
}

TEST_F(LayersTest, ANodeThatHasNoNameOfItsOwnIsCalledByItsWeight) {
  ModelBuilder model = two_ways();
  model.node("MatMul", {"x", "a"}, {"u"})
      .node("MatMul", {"u", "b"}, {"v"}, {}, "same")
      .node("MatMul", {"v", "c"}, {"y"}, {}, "same");
  const auto layers = layers_of(model);
  EXPECT_THAT(names_of(layers), ElementsAre("a", "same", "same"));
  EXPECT_THAT(layers[0].expressions, ElementsAre("^a$"));
  EXPECT_THAT(layers[1].expressions, ElementsAre("^b$"));
  EXPECT_THAT(layers[2].expressions, ElementsAre("^c$"));
}

TEST_F(LayersTest, ExpressionsMeanNamesToTheLetter) {
  ModelBuilder model = two_ways();
  model.node("MatMul", {"x", "a"}, {"y"}, {}, "/net/layer.0[x]/(Mat)Mul+1");
  EXPECT_THAT(layers_of(model)[0].expressions, ElementsAre(R"(^/net/layer\.0\[x\]/\(Mat\)Mul\+1$)"));
}

TEST_F(LayersTest, AWeightOfTwoNodesIsCountedOnce) {
  ModelBuilder model = two_ways();
  model.node("MatMul", {"x", "a"}, {"u"}, {}, "one").node("MatMul", {"u", "a"}, {"y"}, {}, "two");
  const auto layers = layers_of(model);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].values, 1024U);
  EXPECT_EQ(layers[1].values, 0U);
}

TEST_F(LayersTest, AWeightThatIsMovedBelongsToWhoMultipliesWithIt) {
  ModelBuilder model = two_ways();
  model.node("Transpose", {"a"}, {"t"}, {}, "turn").node("MatMul", {"x", "t"}, {"y"}, {}, "one");
  const auto layers = layers_of(model);
  EXPECT_THAT(names_of(layers), ElementsAre("one"));
  EXPECT_THAT(layers[0].expressions, ElementsAre("^a$"));  // the node's name does not select it
}

TEST_F(LayersTest, BranchesAreLookedInto) {
  GraphBuilder branch;
  branch.output("v", kFloat, {1, 32}).node("MatMul", {"u", "b"}, {"v"}, {}, "inner");
  GraphBuilder other;
  other.output("w", kFloat, {1, 32}).node("Identity", {"u"}, {"w"});
  ModelBuilder model = two_ways();
  model.initializer(ounce::test::tensor("go", 9, {}, std::string(1, '\1')));
  model.node("MatMul", {"x", "a"}, {"u"}, {}, "before");
  model.node("If", {"go"}, {"z"},
             {ounce::test::graph_attribute("then_branch", branch.bytes()),
              ounce::test::graph_attribute("else_branch", other.bytes())});
  model.node("MatMul", {"z", "c"}, {"y"}, {}, "after");
  const auto layers = layers_of(model);
  EXPECT_THAT(names_of(layers), ElementsAre("before", "after", "inner"));
  EXPECT_THAT(those(layers, &Layer::is_first), ElementsAre("before"));
  EXPECT_THAT(those(layers, &Layer::is_last), ElementsAre("after"));
  EXPECT_EQ(layers[2].output, "z/then_branch/v");
}

TEST_F(LayersTest, AttentionIsWhatASoftmaxBetweenProductsTakesAndGives) {
  ModelBuilder model = two_ways();
  for (const char* name : {"e", "f"}) model.initializer(name, {32, 32}, ones(1024));
  model.node("MatMul", {"x", "a"}, {"q"}, {}, "query").node("MatMul", {"x", "b"}, {"k"}, {}, "key");
  model.node("MatMul", {"x", "c"}, {"v"}, {}, "value").node("Transpose", {"k"}, {"kt"});
  model.node("MatMul", {"q", "kt"}, {"s"}).node("Softmax", {"s"}, {"p"}).node("MatMul", {"p", "v"}, {"h"});
  model.node("MatMul", {"h", "d"}, {"o"}, {}, "out").node("MatMul", {"o", "e"}, {"m"}, {}, "up");
  model.node("Relu", {"m"}, {"n"}).node("MatMul", {"n", "f"}, {"y"}, {}, "down");
  const auto layers = layers_of(model);
  EXPECT_THAT(those(layers, &Layer::is_attention), ElementsAre("query", "key", "value", "out"));
}

TEST_F(LayersTest, ASoftmaxAtTheEndIsNoAttention) {
  ModelBuilder model = two_ways();
  model.node("MatMul", {"x", "a"}, {"u"}, {}, "one").node("Softmax", {"u"}, {"y"});
  EXPECT_THAT(those(layers_of(model), &Layer::is_attention), IsEmpty());
}

std::vector<Layer> named(const std::vector<std::string>& names) {
  std::vector<Layer> layers;
  for (const std::string& name : names) {
    layers.emplace_back();
    layers.back().name = name;
    layers.back().op_type = name.substr(name.rfind('/') + 1);
  }
  return layers;
}
std::vector<std::string> names_of(const std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.name);
  return names;
}

TEST(GroupLayers, BlocksAreWhatNamesCount) {
  const auto layers = named({"/embed/Gather", "/encoder/layer.0/query/MatMul", "/encoder/layer.0/out/MatMul",
                             "/encoder/layer.1/query/MatMul", "/head/Gemm"});
  const auto groups = group_layers(layers, Grouping::kBlock);
  EXPECT_THAT(names_of(groups),
              ElementsAre("/embed/Gather", "/encoder/layer.0", "/encoder/layer.1", "/head/Gemm"));
  EXPECT_THAT(groups[1].layers, ElementsAre(1, 2));
}

TEST(GroupLayers, NeighboursJoinWhenBlocksAreTooMany) {
  const auto groups = group_layers(named({"a", "b", "c", "d", "e"}), Grouping::kBlock, 2);
  EXPECT_THAT(names_of(groups), ElementsAre("a … b", "c … e"));
  EXPECT_THAT(groups[1].layers, ElementsAre(2, 3, 4));
}

TEST(GroupLayers, OpsOfOneTypeBelongTogether) {
  const auto groups = group_layers(named({"/a/Conv", "/b/Gemm", "/c/Conv"}), Grouping::kOpType);
  EXPECT_THAT(names_of(groups), ElementsAre("Conv", "Gemm"));
  EXPECT_THAT(groups[0].layers, ElementsAre(0, 2));
}

TEST(GroupLayers, EveryLayerAlone) {
  EXPECT_THAT(names_of(group_layers(named({"a", "b"}), Grouping::kLayer)), ElementsAre("a", "b"));
}

TEST(GroupLayers, LayersThatShareAWeightAreNotToldApart) {
  auto layers = named({"embed", "middle", "head"});
  layers[0].weights = layers[2].weights = {"table"};
  const auto groups = group_layers(layers, Grouping::kLayer);
  EXPECT_THAT(names_of(groups), ElementsAre("embed", "middle"));
  EXPECT_THAT(groups[0].layers, ElementsAre(0, 2));
}

}  // namespace
}  // namespace ounce::search
