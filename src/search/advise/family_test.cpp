// Small graphs of each family, which differ only in structure.
#include "search/advise/family.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::search {
namespace {

using ounce::test::float_tensor;
using ounce::test::kFloat;
using ounce::test::kInt64;
using ounce::test::ModelBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.01F * static_cast<float>(i % 17) - 0.08F;
  return values;
}

struct FamilyTest : testing::Test {
  FamilyFinding find(const std::string& bytes) {
    std::ofstream(folder / "model.onnx", std::ios::binary) << bytes;
    const onnx::Model model = onnx::read_model(folder / "model.onnx");
    return find_family(model, graph::validate(model));
  }
  ounce::test::TemporaryFolder folder;
};

// q · kᵀ + mask, Softmax, · v, with weights around them.
void add_attention(ounce::test::GraphBuilder& graph, const std::string& mask) {
  graph.initializer("wq", {16, 16}, ramp(256))
      .initializer("wk", {16, 16}, ramp(256))
      .initializer("wv", {16, 16}, ramp(256));
  graph.node("MatMul", {"x", "wq"}, {"q"})
      .node("MatMul", {"x", "wk"}, {"k"})
      .node("MatMul", {"x", "wv"}, {"v"});
  graph.node("Transpose", {"k"}, {"kt"}).node("MatMul", {"q", "kt"}, {"scores"});
  graph.node("Add", {"scores", mask}, {"masked"}).node("Softmax", {"masked"}, {"shares"});
  graph.node("MatMul", {"shares", "v"}, {"y"});
}

// Two calibrated classifiers and their mean, as exported from scikit-learn pipelines.
TEST_F(FamilyTest, MeansOfLogisticFunctionsAreProbabilities) {
  const auto ends_in_one = [&](bool is_mixed, const char* last) {
    ModelBuilder model;
    model.input("x", kFloat, {1, 1}).output("y", kFloat, {1, 2});
    model.initializer("one", {1}, {1}).initializer("two", {1}, {2});
    model.node(last, {"x"}, {"e"}).node("Add", {"e", "one"}, {"d"}).node("Div", {"one", "d"}, {"p"});
    if (is_mixed) {
      model.node("Sub", {"one", "p"}, {"q"})
          .node("Concat", {"q", "p"}, {"both"}, {ounce::test::int_attribute("axis", 1)});
      model.node("Sum", {"both", "both"}, {"sum"}).node("Div", {"sum", "two"}, {"y"});
    } else {
      model.node("MatMul", {"p", "two"}, {"y"});
    }
    std::ofstream(folder / "model.onnx", std::ios::binary) << model.bytes();
    const onnx::Model read = onnx::read_model(folder / "model.onnx");
    return ends_in_logistic(read, graph::validate(read));
  };
  EXPECT_TRUE(ends_in_one(true, "Exp"));
  EXPECT_FALSE(ends_in_one(true, "Abs"));
  EXPECT_FALSE(ends_in_one(false, "Exp"));  // the logistic function is in the middle
}

TEST_F(FamilyTest, TreesHaveNoWeights) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4}).output("y", kFloat, {1, 1});
  model.add(1, ounce::test::node("TreeEnsembleRegressor", {"x"}, {"y"}, {}, "forest", "ai.onnx.ml"));
  model.add_to_model(
      8, ounce::test::field(1, std::string("ai.onnx.ml")) + ounce::test::field(2, std::int64_t{3}));
  const FamilyFinding found = find(model.bytes());
  EXPECT_EQ(found.family, ModelFamily::kTrees);
  EXPECT_EQ(found.weight_bytes, 0U);
  EXPECT_THAT(found.reasons, Contains(HasSubstr("1 TreeEnsembleRegressor")));
}

TEST_F(FamilyTest, ConvolutionsMakeACnn) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 8, 8}).output("y", kFloat, {1, 8, 6, 6});
  model.initializer("w", {8, 3, 3, 3}, ramp(216)).node("Conv", {"x", "w"}, {"y"});
  const FamilyFinding found = find(model.bytes());
  EXPECT_EQ(found.family, ModelFamily::kCnn);
  EXPECT_EQ(found.description, "convolutional network");
  ASSERT_EQ(found.weights.size(), 1U);
  EXPECT_EQ(found.weights[0].bytes, 864U);
}

TEST_F(FamilyTest, AttentionMakesATransformer) {
  ModelBuilder model;
  model.input("x", kFloat, {4, 16}).input("mask", kFloat, {4, 4}).output("y", kFloat, {4, 16});
  add_attention(model, "mask");
  const FamilyFinding found = find(model.bytes());
  EXPECT_EQ(found.family, ModelFamily::kTransformer);
  EXPECT_FALSE(found.is_autoregressive);
}

TEST_F(FamilyTest, ATriangularMaskMakesItAutoregressive) {
  for (const float hidden : {-1e4F, -1e9F, -INFINITY}) {
    ModelBuilder model;
    model.input("x", kFloat, {4, 16}).output("y", kFloat, {4, 16});
    std::vector<float> mask(16);
    for (std::size_t i = 0; i < 16; ++i) mask[i] = i % 4 > i / 4 ? hidden : 0;
    model.initializer("mask", {4, 4}, mask);
    add_attention(model, "mask");
    const FamilyFinding found = find(model.bytes());
    EXPECT_TRUE(found.is_autoregressive) << hidden;
    EXPECT_EQ(found.description, "autoregressive transformer");
    EXPECT_THAT(found.reasons, Contains(HasSubstr("'mask' is a causal mask")));
  }
}

TEST_F(FamilyTest, APastThatComesBackMakesItAutoregressive) {
  ModelBuilder model;
  model.input("x", kFloat, {4, 16}).input("mask", kFloat, {4, 4}).input("past_0", kFloat, {4, 16});
  model.output("y", kFloat, {4, 16}).output("present_0", kFloat, {4, 16});
  add_attention(model, "mask");
  model.node("Add", {"past_0", "x"}, {"present_0"});
  const FamilyFinding found = find(model.bytes());
  EXPECT_TRUE(found.is_autoregressive);
  EXPECT_THAT(found.states, ElementsAre(Pair("past_0", "present_0")));
}

TEST_F(FamilyTest, AWaveOfOneChannelMakesAnAudioGenerator) {
  ModelBuilder model;
  model.input("mel", kFloat, {1, 8, 16}).output("audio", kFloat, {1, 1, 64});
  model.initializer("up", {8, 4, 4}, ramp(128)).initializer("last", {1, 4, 3}, ramp(12));
  const std::string strides = ounce::test::field(1, std::string("strides")) +
                              ounce::test::field(8, std::int64_t{4}) +
                              ounce::test::field(20, std::int64_t{7});
  const std::string pads = ounce::test::field(1, std::string("pads")) +
                           ounce::test::field(8, std::int64_t{1}) + ounce::test::field(8, std::int64_t{1}) +
                           ounce::test::field(20, std::int64_t{7});
  model.node("ConvTranspose", {"mel", "up"}, {"long"}, {strides}).node("LeakyRelu", {"long"}, {"bent"});
  model.node("Conv", {"bent", "last"}, {"wave"}, {pads}).node("Tanh", {"wave"}, {"audio"});
  const FamilyFinding found = find(model.bytes());
  EXPECT_EQ(found.family, ModelFamily::kAudioGenerator);
  EXPECT_THAT(found.reasons, Contains(HasSubstr("upsample the input 4×")));
}

TEST_F(FamilyTest, BoxesAndScoresMakeADetector) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 8, 8})
      .output("boxes", kFloat, {1, 36, 4})
      .output("scores", kFloat, {1, 36, 2});
  model.initializer("w", {8, 3, 3, 3}, ramp(216)).node("Conv", {"x", "w"}, {"f"});
  model.node("Reshape", {"f", "s1"}, {"boxes"}).node("Reshape", {"f", "s2"}, {"scores"});
  model.input("s1", kInt64, {3}).input("s2", kInt64, {3});
  EXPECT_EQ(find(model.bytes()).family, ModelFamily::kDetector);
}

TEST_F(FamilyTest, AnLstmInABranchWithAStateIsRecurrent) {
  ounce::test::GraphBuilder branch;
  branch.initializer("w", {1, 32, 8}, ramp(256)).initializer("r", {1, 32, 8}, ramp(256));
  branch.node("LSTM", {"x", "w", "r"}, {"ys", "h"}, {ounce::test::int_attribute("hidden_size", 8)});
  branch.node("Add", {"h", "state"}, {"next"});
  branch.output("ys", kFloat, {4, 1, 1, 8}).output("next", kFloat, {1, 1, 8});
  ounce::test::GraphBuilder other;
  other.node("Identity", {"quiet"}, {"y2"}).node("Identity", {"state"}, {"n2"});
  other.output("y2", kFloat, {4, 1, 1, 8}).output("n2", kFloat, {1, 1, 8});
  ModelBuilder model;
  model.input("flag", 9, {})
      .input("x", kFloat, {4, 1, 8})
      .input("state", kFloat, {1, 1, 8})
      .input("quiet", kFloat, {4, 1, 1, 8});
  model.output("y", kFloat, {4, 1, 1, 8}).output("stateN", kFloat, {1, 1, 8});
  model.node("If", {"flag"}, {"y", "stateN"},
             {ounce::test::graph_attribute("then_branch", branch.bytes()),
              ounce::test::graph_attribute("else_branch", other.bytes())});
  const FamilyFinding found = find(model.bytes());
  EXPECT_EQ(found.family, ModelFamily::kRecurrent);
  EXPECT_THAT(found.states, ElementsAre(Pair("state", "stateN")));
}

TEST_F(FamilyTest, GemmsAloneAreAPerceptron) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 16}).output("y", kFloat, {1, 16});
  model.initializer("w", {16, 16}, ramp(256)).node("Gemm", {"x", "w"}, {"h"}).node("Relu", {"h"}, {"y"});
  EXPECT_EQ(find(model.bytes()).family, ModelFamily::kMlp);
}

TEST_F(FamilyTest, CodesAndHalvesAreSeen) {
  ModelBuilder codes;
  codes.input("x", kFloat, {1, 64}).output("y", kFloat, {1, 64});
  codes.initializer(ounce::test::tensor("w", 3, {64, 64}, std::string(4096, '\1')))
      .initializer("s", {}, {0.5F});
  codes.node("DequantizeLinear", {"w", "s"}, {"d"}).node("MatMul", {"x", "d"}, {"y"});
  EXPECT_TRUE(find(codes.bytes()).is_quantized);
  ModelBuilder halves;
  halves.input("x", 10, {1, 64}).output("y", 10, {1, 64});
  halves.initializer(ounce::test::tensor("w", 10, {64, 64}, std::string(8192, '\1')))
      .node("MatMul", {"x", "w"}, {"y"});
  const FamilyFinding found = find(halves.bytes());
  EXPECT_TRUE(found.is_half);
  EXPECT_FALSE(found.is_quantized);
}

TEST_F(FamilyTest, AModelWithoutWeightsIsOfNoFamily) {
  ModelBuilder model;
  model.input("x", kFloat, {4}).output("y", kFloat, {4}).node("Relu", {"x"}, {"y"});
  EXPECT_EQ(find(model.bytes()).family, ModelFamily::kOther);
}

// A convolutional model with this output shape and last op.
std::string convolution(const std::vector<std::int64_t>& input, const std::vector<std::int64_t>& output,
                        const char* last) {
  ModelBuilder model;
  model.input("x", kFloat, input).output("y", kFloat, output);
  model.initializer("w", {16, 3, 3, 3}, ramp(16 * 27));
  model.node("Conv", {"x", "w"}, {"h"}).node(last, {"h"}, {"y"});
  return model.bytes();
}

TEST_F(FamilyTest, OutputsTellWhatAModelIsFor) {
  using Dims = std::vector<std::int64_t>;
  const Dims picture = {1, 3, 64, 64};
  const auto task = [&](const Dims& input, const Dims& output, const char* last = "Relu") {
    return find(convolution(input, output, last)).task;
  };
  EXPECT_EQ(task(picture, {1, 21, 64, 64}), Task::kSegment);
  EXPECT_EQ(task(picture, {1, 1, 64, 64}, "Sigmoid"), Task::kSegment);
  EXPECT_EQ(task(picture, {1, 3, 128, 128}), Task::kRegress);
  EXPECT_EQ(task(picture, {1, 10}), Task::kClassify);
  EXPECT_EQ(task(picture, {1, 512}), Task::kEmbed);
  EXPECT_EQ(task(picture, {1, 512}, "Softmax"), Task::kClassify);
  EXPECT_EQ(task(picture, {1, 1}), Task::kRegress);
  EXPECT_EQ(task({1, 3, 48, 320}, {1, 40, 97}), Task::kCtc);
  EXPECT_EQ(task(picture, {1, 84, 8400}), Task::kDetect);
}

TEST_F(FamilyTest, WhatItIsForIsSaidUnlessItIsClasses) {
  EXPECT_THAT(find(convolution({1, 3, 64, 64}, {1, 21, 64, 64}, "Relu")).reasons,
              Contains("measure its quality with `task=segment`: 'y' is a map of 21 classes"));
  EXPECT_THAT(find(convolution({1, 3, 64, 64}, {1, 10}, "Relu")).reasons,
              testing::Not(Contains(HasSubstr("task"))));
}

}  // namespace
}  // namespace ounce::search
