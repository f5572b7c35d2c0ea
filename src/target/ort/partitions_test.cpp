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

// The provider takes Relu nodes; Constant nodes do not count.
Partitions partitions_in(const ModelBuilder& builder) {
  const onnx::Model model = onnx::read_model_from_memory(builder.bytes(), "model");
  const graph::Index index(model);
  std::vector<Share> shares;
  for (const auto& node : index.main().nodes()) {
    shares.push_back(node->op_type() == "Relu"       ? Share::kProvider
                     : node->op_type() == "Constant" ? Share::kNone
                                                     : Share::kCpu);
  }
  return partitions_of(index, shares);
}

ModelBuilder with_input() {
  ModelBuilder model;
  model.input("x", kFloat, {4});
  return model;
}

TEST(Partitions, AChainThatIsTakenIsOne) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  const Partitions partitions = partitions_in(model);
  EXPECT_EQ(partitions.nodes, 3U);
  EXPECT_EQ(partitions.taken, 3U);
  EXPECT_EQ(partitions.partitions, 1U);
  EXPECT_EQ(partitions.largest, 3U);
  EXPECT_THAT(partitions.left, IsEmpty());
}

// A partition that only converts or reshapes saves no time.
TEST(Partitions, ThoseThatOnlyConvertAreToldApart) {
  ModelBuilder model = with_input();
  model.node("DequantizeLinear", {"x", "s"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  model.node("Constant", {}, {"s"});
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const Partitions partitions = partitions_of(
      graph::Index(read), std::vector<Share>{Share::kProvider, Share::kCpu, Share::kProvider, Share::kNone});
  EXPECT_EQ(partitions.taken, 2U);
  EXPECT_EQ(partitions.computing, 1U);
  EXPECT_EQ(partitions.partitions, 2U);
  EXPECT_EQ(partitions.computing_partitions, 1U);
  EXPECT_EQ(partitions.nodes, 3U);
  EXPECT_EQ(partitions.folded, 1U);
}

TEST(Partitions, ANodeInTheMiddleMakesTwo) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  model.node("Relu", {"c"}, {"d"}).node("Det", {"d"}, {"e"}).node("Erf", {"e"}, {"f"});
  const Partitions partitions = partitions_in(model);
  EXPECT_EQ(partitions.partitions, 2U);
  EXPECT_EQ(partitions.largest, 2U);
  EXPECT_THAT(partitions.left, ElementsAre("Erf 2", "Det 1"));
}

// a ─ Relu ─ b ────────── Relu ─ d     The right Relu depends on the left one directly and by way of Erf on
// the
//            └─ Erf ─ c ──┘            CPU, so they cannot be in the same partition.
TEST(Partitions, NeverNeedThemselves) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"b"}).node("Erf", {"b"}, {"c"}).node("Relu", {"b", "c"}, {"d"});
  EXPECT_EQ(partitions_in(model).partitions, 2U);
}

TEST(Partitions, ABranchOfTheCpuBesideThemDoesNotSplitThem) {
  ModelBuilder model = with_input();
  model.node("Erf", {"x"}, {"c"}).node("Relu", {"x"}, {"a"}).node("Relu", {"a", "c"}, {"b"});
  const Partitions partitions = partitions_in(model);
  EXPECT_EQ(partitions.partitions, 1U);
  EXPECT_EQ(partitions.largest, 2U);
}

TEST(Partitions, NeedNotBeConnected) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"a"}).node("Relu", {"x"}, {"b"});
  EXPECT_EQ(partitions_in(model).partitions, 1U);
}

TEST(Partitions, ConstantsAreNoNodes) {
  ModelBuilder model = with_input();
  model.node("Constant", {}, {"k"}, {test::tensor_attribute("value", test::float_tensor("", {1}, {1}))});
  model.node("Relu", {"x"}, {"a"}).node("Relu", {"a", "k"}, {"b"});
  const Partitions partitions = partitions_in(model);
  EXPECT_EQ(partitions.nodes, 2U);
  EXPECT_EQ(partitions.partitions, 1U);
}

// The branch uses the output of the first node, so the If depends on it and separates the two Relu nodes.
TEST(Partitions, WhatABodyUsesItsNodeNeeds) {
  test::GraphBuilder branch;
  branch.output("t", kFloat, {4}).node("Erf", {"a"}, {"t"});
  ModelBuilder model = with_input();
  model.input("c", 9, {}).node("Relu", {"x"}, {"a"});
  model.node("If", {"c"}, {"y"},
             {test::graph_attribute("then_branch", branch.bytes()),
              test::graph_attribute("else_branch", branch.bytes())});
  model.node("Relu", {"y"}, {"z"});
  EXPECT_EQ(partitions_in(model).partitions, 2U);
}

TEST(Partitions, FollowTheDocumentation) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 8, 8, 8}).initializer("w", {8, 8, 3, 3}, passes::test::noise({8, 8, 3, 3}));
  model.node("Constant", {}, {"k"}, {test::tensor_attribute("value", test::float_tensor("", {1}, {1}))});
  model.node("Neg", {"k"}, {"n"});  // computed before the model runs
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Erf", {"r"}, {"e"});
  model.node("Mul", {"e", "n"}, {"m"}).node("Sigmoid", {"m"}, {"y"});
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index(read);
  const graph::ElementTypes types(read, index);
  const Partitions nnapi = partitions_of(ProviderDocs(*find_provider_page("nnapi"), read, index, types));
  EXPECT_EQ(nnapi.nodes, 5U);
  EXPECT_EQ(nnapi.taken, 4U);
  EXPECT_EQ(nnapi.partitions, 2U);
  EXPECT_THAT(nnapi.left, ElementsAre("Erf 1"));
  const Partitions coreml =
      partitions_of(ProviderDocs(*find_provider_page("coreml-mlprogram"), read, index, types));
  EXPECT_EQ(coreml.partitions, 1U);
  EXPECT_EQ(coreml.largest, 5U);
  const Partitions xnnpack = partitions_of(ProviderDocs(*find_provider_page("xnnpack"), read, index, types));
  EXPECT_EQ(xnnpack.taken, 1U);
  EXPECT_THAT(xnnpack.left, ElementsAre("Erf 1", "Mul 1", "Relu 1", "Sigmoid 1"));
}

TEST(Partitions, OfAnEmptyGraphAreNone) { EXPECT_EQ(partitions_in(with_input()).partitions, 0U); }

TEST(Partitions, OfALargeGraphAreFoundAtOnce) {
  ModelBuilder model = with_input();
  model.node("Relu", {"x"}, {"v0"});
  constexpr int kNodes = 100'000;
  for (int i = 1; i < kNodes; ++i) {  // all nodes use the first
    model.node(i % 10 == 9  ? "Erf"
               : i % 3 == 0 ? "Add"
                            : "Relu",
               {"v" + std::to_string(i - 1), "v0"}, {"v" + std::to_string(i)});
  }
  const onnx::Model read = onnx::read_model_from_memory(model.bytes(), "model");
  const graph::Index index(read);
  const graph::ElementTypes types(read, index);
  const std::clock_t start = std::clock();  // CPU time, because other programs may be running
  const Partitions partitions = partitions_of(ProviderDocs(*find_provider_page("nnapi"), read, index, types));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(partitions.nodes, static_cast<std::size_t>(kNodes));
  EXPECT_EQ(partitions.partitions, 10'000U);
  EXPECT_EQ(partitions.largest, 9U);
  EXPECT_LT(seconds, 20);  // a second at most; sanitizers are slow
  RecordProperty("seconds", std::to_string(seconds));
}

}  // namespace
}  // namespace ounce::target
