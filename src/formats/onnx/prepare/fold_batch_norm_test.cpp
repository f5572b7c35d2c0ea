#include "formats/onnx/prepare/fold_weights.h"

#include <gmock/gmock.h>

#include <limits>

#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using ounce::test::Dims;
using ounce::test::float_tensor;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using ounce::test::tensor_attribute;
using test::expect_same_outputs;
using test::float_attribute;
using test::noise;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<float> positive(std::vector<float> values) {
  for (float& value : values) value = value * value + 0.25F;
  return values;
}

// scale, B, mean and var under these prefixes.
void add_norm_parameters(GraphBuilder& graph, std::int64_t channels, const std::string& prefix = "n") {
  graph.initializer(prefix + "s", {channels}, noise({channels}, 11));
  graph.initializer(prefix + "b", {channels}, noise({channels}, 12));
  graph.initializer(prefix + "m", {channels}, noise({channels}, 13));
  graph.initializer(prefix + "v", {channels}, positive(noise({channels}, 14)));
}

void add_norm(GraphBuilder& graph, const std::string& x, const std::string& y,
              const std::string& prefix = "n",
              const Strings& attributes = {float_attribute("epsilon", 0.01F)}) {
  graph.node("BatchNormalization", {x, prefix + "s", prefix + "b", prefix + "m", prefix + "v"}, {y},
             attributes, "norm_" + y);
}

std::string norm_parameters() {
  return "ns = float32[4]\nnb = float32[4]\nnm = float32[4]\nnv = float32[4]\n";
}

// x [1,2,5,5] through a Conv with four channels and a normalization.
ModelBuilder conv_and_norm(bool has_bias, std::int64_t opset = 17, std::int64_t ir_version = 8) {
  ModelBuilder model(opset, ir_version);
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 4, 3, 3});
  model.initializer("w", {4, 2, 3, 3}, noise({4, 2, 3, 3}, 2));
  if (has_bias) model.initializer("b", {4}, noise({4}, 3));
  add_norm_parameters(model, 4);
  model.node("Conv", has_bias ? Strings{"x", "w", "b"} : Strings{"x", "w"}, {"c"});
  return model;
}

TEST(FoldBatchNorm, PutsItIntoTheWeightAndBias) {
  ModelBuilder model = conv_and_norm(true);
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  const Changes changes = fold_batch_norm(folded);
  EXPECT_EQ(changes.count, 1U);
  EXPECT_THAT(changes.left_alone, IsEmpty());
  EXPECT_EQ(text_of(folded),
            "w = float32[4,2,3,3]\nb = float32[4]\n" + norm_parameters() + "Conv(x, w, b) -> y\n");
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, GivesABiasWhereThereIsNone) {
  ModelBuilder model = conv_and_norm(false);
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  fold_batch_norm(folded);
  EXPECT_EQ(text_of(folded),
            "w = float32[4,2,3,3]\n" + norm_parameters() + "q0 = float32[4]\nConv(x, w, q0) -> y\n");
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, TakesAnEmptyNameForNoBias) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 4, 3, 3});
  model.initializer("w", {4, 2, 3, 3}, noise({4, 2, 3, 3}, 2));
  add_norm_parameters(model, 4);
  model.node("Conv", {"x", "w", ""}, {"c"});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 1U);
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, FoldsSeveralInARowAtOnce) {
  ModelBuilder model = conv_and_norm(true);
  add_norm_parameters(model, 4, "k");
  add_norm(model, "c", "d");
  add_norm(model, "d", "y", "k");
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 2U);
  EXPECT_THAT(text_of(folded), HasSubstr("\nConv(x, w, b) -> y\n"));
  EXPECT_THAT(text_of(folded), testing::Not(HasSubstr("BatchNormalization")));
  expect_same_outputs(model.bytes(), folded);
}

// One weight for two ops, of which one is normalized.
TEST(FoldBatchNorm, LeavesASharedWeightToTheOthers) {
  ModelBuilder model = conv_and_norm(true);
  model.node("Conv", {"x", "w", "b"}, {"z"}).output("z", kFloat, {1, 4, 3, 3});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 1U);
  EXPECT_THAT(text_of(folded), HasSubstr("q0 = float32[4]\nq1 = float32[4,2,3,3]\n"
                                         "Conv(x, q1, q0) -> y\nConv(x, w, b) -> z\n"));
  expect_same_outputs(model.bytes(), folded);
}

// A large weight with very many users must not be copied for each of them.
TEST(FoldBatchNorm, StopsCopyingInProportionToTheModel) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 64, 1});
  model.initializer("w", {64, 64, 1}, noise({4096}));
  add_norm_parameters(model, 64);
  for (int i = 0; i < 20; ++i) {
    const std::string y = "y" + std::to_string(i);
    model.output(y, kFloat, {1, 64, 1}).node("Conv", {"x", "w"}, {"c" + y});
    add_norm(model, "c" + y, y);
  }
  onnx::Model folded = read(model.bytes());
  const Changes changes = fold_batch_norm(folded);
  EXPECT_EQ(changes.count, 7U);
  EXPECT_EQ(changes.left_alone.size(), 13U);
  EXPECT_EQ(changes.left_alone[0],
            "node 'norm_y7': copies of shared weights would be many times larger than the model");
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, FoldsWeightsOfConstantNodes) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 4, 3, 3});
  model.node("Constant", {}, {"w"}, {tensor_attribute("value", float_tensor("", {4, 2, 3, 3}, noise({72})))});
  add_norm_parameters(model, 4);
  model.node("Conv", {"x", "w"}, {"c"});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 1U);
  EXPECT_EQ(text_of(folded), norm_parameters() + "q0 = float32[4]\nConstant() -> w\nConv(x, w, q0) -> y\n");
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, CountsTheChannelsOfGroupsOn) {
  for (const bool is_transposed : {false, true}) {
    const Dims weight = is_transposed ? Dims{4, 3, 2, 2} : Dims{6, 2, 2, 2};
    ModelBuilder model;
    model.input("x", kFloat, {1, 4, 5, 5}).output("y", kFloat, {1, 6, 1, 1});
    model.initializer("w", weight, noise(weight)).initializer("b", {6}, noise({6}, 5));
    add_norm_parameters(model, 6);
    model.node(is_transposed ? "ConvTranspose" : "Conv", {"x", "w", "b"}, {"c"}, {int_attribute("group", 2)});
    add_norm(model, "c", "d");
    model.node("GlobalMaxPool", {"d"}, {"y"});
    onnx::Model folded = read(model.bytes());
    EXPECT_EQ(fold_batch_norm(folded).count, 1U);
    expect_same_outputs(model.bytes(), folded);
  }
}

TEST(FoldBatchNorm, FoldsIntoEveryFormOfGemm) {
  for (const std::int64_t is_transposed : {0, 1}) {
    for (const Dims& bias : {Dims{}, Dims{6}, Dims{1, 6}, Dims{1}}) {
      const Dims weight = is_transposed != 0 ? Dims{6, 3} : Dims{3, 6};
      ModelBuilder model;
      model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 6});
      model.initializer("w", weight, noise(weight)).initializer("b", bias, noise(bias, 5));
      add_norm_parameters(model, 6);
      model.node("Gemm", {"x", "w", "b"}, {"c"},
                 {int_attribute("transB", is_transposed), float_attribute("alpha", 0.5F),
                  float_attribute("beta", -2)});
      add_norm(model, "c", "y");
      onnx::Model folded = read(model.bytes());
      EXPECT_EQ(fold_batch_norm(folded).count, 1U);
      expect_same_outputs(model.bytes(), folded);
    }
  }
}

TEST(FoldBatchNorm, LeavesABiasThatDiffersFromRowToRow) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3}).output("y", kFloat, {2, 6});
  model.initializer("w", {3, 6}, noise({18})).initializer("b", {2, 6}, noise({12}));
  add_norm_parameters(model, 6);
  model.node("Gemm", {"x", "w", "b"}, {"c"});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_THAT(fold_batch_norm(folded).left_alone,
              ElementsAre("node 'norm_y': Gemm in front of it: its bias is not one value per channel"));
  EXPECT_FALSE(folded.proto.is_edited());
}

TEST(FoldBatchNorm, WorksInsideOfBranchesThatUseTheSameNames) {
  const auto branch = [](std::uint32_t seed) {
    GraphBuilder graph;
    graph.output("y", kFloat, {1, 4, 3, 3});
    graph.initializer("w", {4, 2, 3, 3}, noise({72}, seed));
    add_norm_parameters(graph, 4);
    graph.node("Conv", {"x", "w"}, {"c"});
    add_norm(graph, "c", "y");
    return graph.bytes();
  };
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).input("which", 9, {}).output("z", kFloat, {1, 4, 3, 3});
  model.node("If", {"which"}, {"z"},
             {graph_attribute("then_branch", branch(1)), graph_attribute("else_branch", branch(2))});
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 2U);
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, LeavesTheWeightOfAGraphAroundToIt) {
  GraphBuilder branch;
  branch.output("y", kFloat, {1, 4, 3, 3}).node("Conv", {"x", "w"}, {"c"});
  add_norm(branch, "c", "y");
  GraphBuilder other;
  other.output("e", kFloat, {1, 4, 3, 3}).node("Conv", {"x", "w"}, {"e"});
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).input("which", 9, {}).output("z", kFloat, {1, 4, 3, 3});
  model.initializer("w", {4, 2, 3, 3}, noise({72}));
  add_norm_parameters(model, 4);
  model.node("If", {"which"}, {"z"},
             {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", other.bytes())});
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 1U);
  EXPECT_THAT(text_of(folded), HasSubstr("  then_branch:\n    q0 = float32[4]\n    q1 = float32[4,2,3,3]\n"
                                         "    Conv(x, q1, q0) -> y\n"));
  expect_same_outputs(model.bytes(), folded);
}

TEST(FoldBatchNorm, LeavesAnOpWhoseOutputIsWantedElsewhere) {
  ModelBuilder output = conv_and_norm(true);
  output.output("c", kFloat, {1, 4, 3, 3});
  add_norm(output, "c", "y");
  ModelBuilder used = conv_and_norm(true);
  add_norm(used, "c", "y");
  used.node("Relu", {"c"}, {"z"}).output("z", kFloat, {1, 4, 3, 3});
  for (const ModelBuilder& model : {output, used}) {
    onnx::Model folded = read(model.bytes());
    EXPECT_THAT(fold_batch_norm(folded).left_alone, ElementsAre("node 'norm_y': 'c' is used elsewhere too"));
    EXPECT_FALSE(folded.proto.is_edited());
  }
}

TEST(FoldBatchNorm, LeavesWhatIsNoNormalisationOfInference) {
  const auto reason = [](const Strings& attributes, std::int64_t opset) {
    ModelBuilder model = conv_and_norm(true, opset);
    add_norm(model, "c", "y", "n", attributes);
    onnx::Model folded = read(model.bytes());
    const Changes changes = fold_batch_norm(folded);
    return changes.left_alone.empty() ? "" : changes.left_alone[0];
  };
  const std::string no = "node 'norm_y': it is not a per-channel normalization in inference mode";
  EXPECT_EQ(reason({int_attribute("training_mode", 1)}, 15), no);
  EXPECT_EQ(reason({int_attribute("spatial", 0)}, 8), no);
  EXPECT_EQ(reason({}, 6), no);
  EXPECT_EQ(reason({int_attribute("is_test", 1)}, 6), "");
  EXPECT_EQ(reason({int_attribute("spatial", 1)}, 8), "");
}

TEST(FoldBatchNorm, LeavesParametersThatCannotBeFolded) {
  const auto reason = [](float variance, float scale) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 1, 3}).output("y", kFloat, {1, 1, 3});
    model.initializer("w", {1, 1, 1}, {2}).initializer("nb", {1}, {0}).initializer("nm", {1}, {0});
    model.initializer("ns", {1}, {scale}).initializer("nv", {1}, {variance});
    model.node("Conv", {"x", "w"}, {"c"});
    add_norm(model, "c", "y");
    onnx::Model folded = read(model.bytes());
    return fold_batch_norm(folded).left_alone.at(0);
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(reason(-1, 1), "node 'norm_y': its variance of channel 0 is not positive");
  EXPECT_EQ(reason(kNan, 1), "node 'norm_y': its variance of channel 0 is not positive");
  EXPECT_EQ(reason(1, kNan), "node 'norm_y': its parameters of channel 0 are not finite");
  EXPECT_EQ(reason(0, 3e38F), "node 'norm_y': the new weight or bias would not be finite");
}

// From IR 4 on the caller may override the weight.
TEST(FoldBatchNorm, LeavesWeightsThatAreInputs) {
  ModelBuilder model = conv_and_norm(true);
  model.input("w", kFloat, {4, 2, 3, 3});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_THAT(fold_batch_norm(folded).left_alone,
              ElementsAre("node 'norm_y': Conv in front of it: its weight is not a constant"));
}

TEST(FoldBatchNorm, KnowsThatBeforeIr4EveryInitializerIsAnInput) {
  ModelBuilder model = conv_and_norm(true, 8, 3);
  model.input("w", kFloat, {4, 2, 3, 3}).input("b", kFloat, {4});
  for (const char* name : {"ns", "nb", "nm", "nv"}) model.input(name, kFloat, {4});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 1U);
  EXPECT_THAT(text_of(folded), HasSubstr("\nConv(x, w, b) -> y\n"));
}

TEST(FoldBatchNorm, LeavesWeightsThatAreTrained) {
  ModelBuilder model = conv_and_norm(true);
  add_norm(model, "c", "y");
  model.add_to_model(20, "");
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).left_alone.size(), 1U);
}

TEST(FoldBatchNorm, LeavesWeightsOfOtherTypes) {
  ModelBuilder model;
  model.input("x", 11, {1, 1, 3}).output("y", 11, {1, 1, 3});
  model.initializer(ounce::test::tensor("w", 11, {1, 1, 1}, std::string(8, '\0')));
  add_norm_parameters(model, 1);
  model.node("Conv", {"x", "w"}, {"c"});
  add_norm(model, "c", "y");
  onnx::Model folded = read(model.bytes());
  EXPECT_THAT(fold_batch_norm(folded).left_alone,
              ElementsAre("node 'norm_y': Conv in front of it: its weight or bias is not float32"));
}

TEST(FoldBatchNorm, WorksInFunctions) {
  using ounce::test::field;
  const auto constant = [](const std::string& name, const Dims& dims, const std::vector<float>& values) {
    return field(7, ounce::test::node("Constant", {}, {name},
                                      {tensor_attribute("value", float_tensor("", dims, values))}));
  };
  const std::string function =
      field(1, std::string("f")) + field(4, std::string("a")) + field(5, std::string("r")) +
      constant("w", {4, 2, 3, 3}, noise({72})) + constant("s", {4}, noise({4})) +
      constant("v", {4}, {1, 2, 3, 4}) + field(7, ounce::test::node("Conv", {"a", "w"}, {"c"})) +
      field(7, ounce::test::node("BatchNormalization", {"c", "s", "s", "s", "v"}, {"r"})) +
      field(9, field(1, std::string()) + field(2, std::int64_t{17})) + field(10, std::string("my"));
  ModelBuilder model;
  model.input("x", kFloat, {1, 2, 5, 5}).output("y", kFloat, {1, 4, 3, 3});
  model.add(1, ounce::test::node("f", {"x"}, {"y"}, {}, {}, "my"));
  model.add_to_model(25, function).add_to_model(8, field(1, std::string("my")) + field(2, std::int64_t{1}));
  onnx::Model folded = read(model.bytes());
  EXPECT_EQ(fold_batch_norm(folded).count, 1U);
  EXPECT_EQ(text_of(folded),
            "f(x) -> y\nfunction f:\n  Constant() -> w\n  Constant() -> s\n  Constant() -> v\n"
            "  Constant() -> q0\n  Conv(a, w, q0) -> r\n");
  expect_same_outputs(model.bytes(), folded);
}

}  // namespace
}  // namespace ounce::passes
