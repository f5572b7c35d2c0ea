#include "target/ort/partitions.h"

#include <gmock/gmock.h>

#include <ctime>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"

namespace ounce::target {
namespace {

using test::kFloat;
using test::ModelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

// Nodes of the type Relu go to the provider, those of the type Constant count nowhere.
Islands islands_in(const ModelBuilder& builder) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const graph::Index index(model);
  std::vector<Share> shares;
  for (const auto& node : index.main().nodes()) {
    shares.push_back(node->op_type() == "Relu"       ? Share::kProvider
                     : node->op_type() == "Constant" ? Share::kNone
                                                     : Share::kCpu);
  }
  return islands_of(index, shares);
}

ModelBuilder with_input() {
  ModelBuilder model;
  model.input("x", kFloat, {4});
  return model;
}

TEST(Islands, AChainThatIsTakenIsOne) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  const Islands islands = islands_in(model);
  EXPECT_EQ(islands.nodes, 3U);
  EXPECT_EQ(islands.taken, 3U);
  EXPECT_EQ(islands.islands, 1U);
  EXPECT_EQ(islands.largest, 3U);
  EXPECT_THAT(islands.left, IsEmpty());
}

// Reshapes and conversions beside the CPU's nodes make nothing faster.
TEST(Islands, ThoseThatOnlyConvertAreToldApart) {
  ModelBuilder model = with_input();
  model.node("DequantizeLinear", {"x", "s"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  model.node("Constant", {}, {"s"});
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const Islands islands = islands_of(
      graph::Index(read), std::vector<Share>{Share::kProvider, Share::kCpu, Share::kProvider, Share::kNone});
  EXPECT_EQ(islands.taken, 2U);
  EXPECT_EQ(islands.computing, 1U);
  EXPECT_EQ(islands.islands, 2U);
  EXPECT_EQ(islands.computing_islands, 1U);
  EXPECT_EQ(islands.nodes, 3U);
  EXPECT_EQ(islands.folded, 1U);
}

TEST(Islands, ANodeInTheMiddleMakesTwo) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  model.node("Relu", {"c"}, {"d"}).node("Det", {"d"}, {"e"}).node("Erf", {"e"}, {"f"});
  const Islands islands = islands_in(model);
  EXPECT_EQ(islands.islands, 2U);
  EXPECT_EQ(islands.largest, 2U);
  EXPECT_THAT(islands.left, ElementsAre("Erf 2", "Det 1"));
}

// a ─ Relu ─ b ────────── Relu ─ d     The one on the right needs the island on the left by two ways, and one
//            └─ Erf ─ c ──┘            of them leads over the CPU.
TEST(Islands, NeverNeedThemselves) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"b"}).node("Erf", {"b"}, {"c"}).node("Relu", {"b", "c"}, {"d"});
  EXPECT_EQ(islands_in(model).islands, 2U);
}

TEST(Islands, ABranchOfTheCpuBesideThemDoesNotSplitThem) {
  ModelBuilder model = with_input();
  model.node("Erf", {"x"}, {"c"}).node("Relu", {"x"}, {"a"}).node("Relu", {"a", "c"}, {"b"});
  const Islands islands = islands_in(model);
  EXPECT_EQ(islands.islands, 1U);
  EXPECT_EQ(islands.largest, 2U);
}

TEST(Islands, NeedNotBeConnected) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"a"}).node("Relu", {"x"}, {"b"});
  EXPECT_EQ(islands_in(model).islands, 1U);
}

TEST(Islands, ConstantsAreNoNodes) {
  ModelBuilder model = with_input();
  model.node("Constant", {}, {"k"}, {test::tensor_attribute("value", test::float_tensor("", {1}, {1}))});
  model.node("Relu", {"x"}, {"a"}).node("Relu", {"a", "k"}, {"b"});
  const Islands islands = islands_in(model);
  EXPECT_EQ(islands.nodes, 2U);
  EXPECT_EQ(islands.islands, 1U);
}

// The branch uses what the first node computes, so the If waits for it, and stands between the two.
TEST(Islands, WhatABodyUsesItsNodeNeeds) {
  test::GraphBuilder branch;
  branch.output("t", kFloat, {4}).node("Erf", {"a"}, {"t"});
  ModelBuilder model = with_input();
  model.input("c", 9, {}).node("Relu", {"x"}, {"a"});
  model.node("If", {"c"}, {"y"},
             {test::graph_attribute("then_branch", branch.bytes()),
              test::graph_attribute("else_branch", branch.bytes())});
  model.node("Relu", {"y"}, {"z"});
  EXPECT_EQ(islands_in(model).islands, 2U);
}

TEST(Islands, FollowTheDocumentation) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 8, 8}).initializer("w", {8, 8, 3, 3}, passes::test::noise({8, 8, 3, 3}));
  model.node("Constant", {}, {"k"}, {test::tensor_attribute("value", test::float_tensor("", {1}, {1}))});
  model.node("Neg", {"k"}, {"n"});  // computed before the model runs
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Erf", {"r"}, {"e"});
  model.node("Mul", {"e", "n"}, {"m"}).node("Sigmoid", {"m"}, {"y"});
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index(read);
  const graph::ElementTypes types(read, index);
  const Islands nnapi = islands_of(ProviderDocs(*find_provider_page("nnapi"), read, index, types));
  EXPECT_EQ(nnapi.nodes, 5U);
  EXPECT_EQ(nnapi.taken, 4U);
  EXPECT_EQ(nnapi.islands, 2U);
  EXPECT_THAT(nnapi.left, ElementsAre("Erf 1"));
  const Islands coreml =
      islands_of(ProviderDocs(*find_provider_page("coreml-mlprogram"), read, index, types));
  EXPECT_EQ(coreml.islands, 1U);
  EXPECT_EQ(coreml.largest, 5U);
  const Islands xnnpack = islands_of(ProviderDocs(*find_provider_page("xnnpack"), read, index, types));
  EXPECT_EQ(xnnpack.taken, 1U);
  EXPECT_THAT(xnnpack.left, ElementsAre("Erf 1", "Mul 1", "Relu 1", "Sigmoid 1"));
}

TEST(Islands, OfAnEmptyGraphAreNone) { EXPECT_EQ(islands_in(with_input()).islands, 0U); }

TEST(Islands, OfALargeGraphAreFoundAtOnce) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"v0"});
  constexpr int kNodes = 100'000;
  for (int i = 1; i < kNodes; ++i) {  // everybody uses the first
    model.node(i % 10 == 9  ? "Erf"
               : i % 3 == 0 ? "Add"
                            : "Relu",
               {"v" + std::to_string(i - 1), "v0"}, {"v" + std::to_string(i)});
  }
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index(read);
  const graph::ElementTypes types(read, index);
  const std::clock_t start = std::clock();  // of the processor: others may use the machine
  const Islands islands = islands_of(ProviderDocs(*find_provider_page("nnapi"), read, index, types));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(islands.nodes, static_cast<std::size_t>(kNodes));
  EXPECT_EQ(islands.islands, 10'000U);
  EXPECT_EQ(islands.largest, 9U);
  EXPECT_LT(seconds, 20);  // a second at most; sanitizers are slow
  RecordProperty("seconds", std::to_string(seconds));
}

}  // namespace
}  // namespace ounce::target
