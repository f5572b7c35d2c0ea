#include "formats/onnx/prepare/equalize.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/reader.h"
#include "support/model_builder.h"
#include "support/pass_runs.h"
#include "support/read_model.h"

namespace ounce::passes {
namespace {

using calibration::Ranges;
using ounce::test::Dims;
using ounce::test::graph_attribute;
using ounce::test::GraphBuilder;
using ounce::test::int_attribute;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using ounce::test::read;
using ounce::test::Strings;
using test::expect_same_outputs;
using test::float_attribute;
using test::ints_attribute;
using test::noise;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Channels with values from -size to size.
calibration::Statistics seen(const std::vector<float>& sizes) {
  const std::size_t rows = 50;
  std::vector<float> values;
  for (std::size_t row = 0; row < rows; ++row) {
    const float at = 2 * static_cast<float>(row) / static_cast<float>(rows - 1) - 1;
    for (const float size : sizes) values.push_back(size * at);
  }
  calibration::Statistics statistics;
  statistics.add(values, sizes.size(), 1);
  return statistics;
}

const std::vector<float> kUneven = {0.1F, 12, 0.5F, 1};

Ranges uneven(const Strings& names) {
  Ranges ranges;
  for (const std::string& name : names) ranges.values[name] = seen(kUneven);
  return ranges;
}

std::vector<float> initializer(const onnx::Model& model, const std::string& name) {
  for (const auto& tensor : model.proto->graph->initializers) {
    if (tensor->name == name) return floats_of(*tensor);
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

// Checks that the pass changes `places` places once, and neither the structure nor the outputs.
void expect_equalized(const ModelBuilder& model, const Ranges& ranges, std::size_t places = 1) {
  onnx::Model equal = read(model.bytes());
  const Equalization result = equalize(equal, ranges);
  EXPECT_EQ(result.count, places) << testing::PrintToString(result.left_alone);
  EXPECT_EQ(result.done.size(), places);
  EXPECT_EQ(text_of(equal), text_of(read(model.bytes())));
  EXPECT_TRUE(equal.proto.is_edited());
  expect_same_outputs(model.bytes(), equal);
}

void expect_left_alone(const ModelBuilder& model, const Ranges& ranges, const std::string& reason) {
  onnx::Model equal = read(model.bytes());
  const Equalization result = equalize(equal, ranges);
  EXPECT_EQ(result.count, 0U);
  EXPECT_THAT(result.left_alone, testing::Contains(HasSubstr(reason)));
  EXPECT_FALSE(equal.proto.is_edited());
}

// x [1,3,5,5] through Conv(w, b) and Relu to r, which has four channels.
ModelBuilder conv_and_relu() {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 5, 5});
  model.initializer("w", {4, 3, 3, 3}, noise({4, 3, 3, 3})).initializer("b", {4}, noise({4}, 2));
  model.node("Conv", {"x", "w", "b"}, {"c"}, {}, "first").node("Relu", {"c"}, {"r"});
  return model;
}

TEST(Equalize, MovesFactorsFromAConvolutionIntoTheNext) {
  ModelBuilder model = conv_and_relu();
  model.output("y", kFloat, {1, 2, 3, 3}).initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  model.node("Conv", {"r", "v"}, {"y"});
  expect_equalized(model, uneven({"r"}));

  onnx::Model equal = read(model.bytes());
  const Equalization result = equalize(equal, uneven({"r"}));
  EXPECT_THAT(result.done,
              ElementsAre(testing::MatchesRegex("node 'first': alpha [0-9.]+, predicted [0-9.]+ dB better")));
  EXPECT_THAT(result.rescaled, ElementsAre("c", "r"));
  EXPECT_THAT(result.left_alone, ElementsAre(HasSubstr("'y' is an output")));
  const auto b = initializer(equal, "b"), v = initializer(equal, "v"), before = noise({8}, 3);
  const double small = v[0] / before[0], large = v[1] / before[1];
  EXPECT_GT(large, 4 * small);
  EXPECT_NEAR(v[4] / before[4], small, 1e-6);  // the same channel of the other output
  EXPECT_NEAR(b[1], noise({4}, 2)[1] / large, 1e-6);
}

TEST(Equalize, TakesDepthwiseAndGroupedConvolutions) {
  for (const std::int64_t groups : {4, 2}) {
    ModelBuilder model = conv_and_relu();
    const std::int64_t inputs = 4 / groups;
    model.output("y", kFloat, {1, 8, 3, 3}).initializer("v", {8, inputs, 1, 1}, noise({8, inputs}, 3));
    model.node("Conv", {"r", "v"}, {"y"}, {int_attribute("group", groups)});
    expect_equalized(model, uneven({"r"}));
  }
}

TEST(Equalize, GivesAMiddleConvolutionFactorsOnBothSides) {
  ModelBuilder model = conv_and_relu();
  model.output("y", kFloat, {1, 2, 3, 3});
  model.initializer("d", {4, 1, 1, 1}, noise({4}, 4)).initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  model.node("Conv", {"r", "d"}, {"e"}, {int_attribute("group", 4)}).node("Conv", {"e", "v"}, {"y"});
  expect_equalized(model, uneven({"r", "e"}), 2);
}

TEST(Equalize, TakesTransposedConvolutionsAsTheFirstOp) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 4, 5}).output("y", kFloat, {1, 3, 6});
  model.initializer("w", {4, 2, 2}, noise({16})).initializer("v", {3, 4, 1}, noise({12}, 3));
  model.node("ConvTranspose", {"x", "w"}, {"c"}, {int_attribute("group", 2)});
  model.node("LeakyRelu", {"c"}, {"r"}).node("Conv", {"r", "v"}, {"y"});
  expect_equalized(model, uneven({"r"}));
}

TEST(Equalize, PassesPoolsAndFlattenToAGemm) {
  ModelBuilder model = conv_and_relu();
  model.output("y", kFloat, {1, 2}).initializer("v", {2, 4}, noise({8}, 3));
  model.node("MaxPool", {"r"}, {"m"}, {ints_attribute("kernel_shape", {2, 2})});
  model.node("GlobalAveragePool", {"m"}, {"g"}).node("Flatten", {"g"}, {"f"});
  model.node("Gemm", {"f", "v"}, {"y"}, {int_attribute("transB", 1)});
  expect_equalized(model, uneven({"f"}));
}

TEST(Equalize, LeavesAFlattenThatMixesChannels) {
  ModelBuilder model = conv_and_relu();
  model.output("y", kFloat, {1, 2}).initializer("v", {2, 36}, noise({72}, 3));
  model.node("Flatten", {"r"}, {"f"}).node("Gemm", {"f", "v"}, {"y"}, {int_attribute("transB", 1)});
  expect_left_alone(model, uneven({"f"}),
                    "node 'first': 'r' goes to Flatten 'Flatten#2': factors cannot be folded into it");
}

TEST(Equalize, TakesGemmBothWaysRound) {
  for (const std::int64_t is_transposed : {0, 1}) {
    const std::vector<std::string> attributes = {int_attribute("transB", is_transposed),
                                                 float_attribute("alpha", 0.5F), float_attribute("beta", 2)};
    ModelBuilder model;
    model.input("x", kFloat, {3, 5}).output("y", kFloat, {3, 6});
    model.initializer("w", is_transposed != 0 ? Dims{4, 5} : Dims{5, 4}, noise({20}));
    model.initializer("v", is_transposed != 0 ? Dims{6, 4} : Dims{4, 6}, noise({24}, 3));
    model.initializer("b", {1, 4}, noise({4}, 2)).initializer("slope", {4}, noise({4}, 5));
    model.node("Gemm", {"x", "w", "b"}, {"c"}, attributes).node("PRelu", {"c", "slope"}, {"r"});
    model.node("Gemm", {"r", "v"}, {"y"}, attributes);
    expect_equalized(model, uneven({"r"}));
  }
}

// n [2,3,4], produced by the added nodes, times three matrices.
void add_attention(ModelBuilder& model) {
  for (const std::string name : {"q", "k", "v"}) {
    model.initializer("w" + name, {4, 5}, noise({20}, static_cast<std::uint32_t>(name[0])));
    model.node("MatMul", {"n", "w" + name}, {name}).output(name, kFloat, {2, 3, 5});
  }
}

TEST(Equalize, MovesFactorsFromANormalisationIntoAllThatTakeIt) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3, 4});
  model.initializer("g", {4}, noise({4})).initializer("b", {4}, noise({4}, 2));
  model.node("LayerNormalization", {"x", "g", "b"}, {"n"});
  add_attention(model);
  expect_equalized(model, uneven({"n"}));
}

TEST(Equalize, TakesANormalisationThatIsWrittenOut) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3, 4});
  model.initializer("g", {4}, noise({4})).initializer("b", {1, 1, 4}, noise({4}, 2));
  model.node("Mul", {"g", "x"}, {"m"}).node("Add", {"m", "b"}, {"n"});
  add_attention(model);
  expect_equalized(model, uneven({"n"}));
}

TEST(Equalize, TakesAMatMulAndItsBias) {
  ModelBuilder model;
  model.input("x", kFloat, {2, 3, 6});
  model.initializer("w", {6, 4}, noise({24})).initializer("b", {4}, noise({4}, 2));
  model.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"b", "m"}, {"a"}).node("Relu", {"a"}, {"n"});
  add_attention(model);
  expect_equalized(model, uneven({"n"}));
}

TEST(Equalize, LeavesWhatAlsoGoesElsewhere) {
  const auto with_second_conv = [] {
    ModelBuilder model = conv_and_relu();
    model.output("y", kFloat, {1, 4, 3, 3}).initializer("v", {4, 4, 1, 1}, noise({16}, 3));
    return model;
  };
  ModelBuilder residual = with_second_conv();
  residual.node("Conv", {"r", "v"}, {"d"}).node("Add", {"d", "r"}, {"y"}, {}, "sum");
  expect_left_alone(residual, uneven({"r"}),
                    "node 'first': 'r' goes to Add 'sum': factors cannot be folded into it");

  ModelBuilder output = with_second_conv();
  output.node("Conv", {"r", "v"}, {"y"}).output("c", kFloat, {1, 4, 3, 3});
  expect_left_alone(output, uneven({"r"}), "node 'first': 'c' is an output");

  GraphBuilder branch;
  branch.output("e", kFloat, {1, 4, 3, 3}).node("Relu", {"r"}, {"e"});
  ModelBuilder captured = with_second_conv();
  captured.node("Conv", {"r", "v"}, {"y"}).input("which", 9, {}).output("z", kFloat, {1, 4, 3, 3});
  captured.node(
      "If", {"which"}, {"z"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  expect_left_alone(captured, uneven({"r"}), "node 'first': 'r' is used in a subgraph");
}

TEST(Equalize, LeavesAClipWithAnUpperLimit) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 5, 5}).output("y", kFloat, {1, 2, 5, 5});
  model.initializer("w", {4, 3, 1, 1}, noise({12})).initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  model.initializer("low", {}, {0}).initializer("high", {}, {6});
  model.node("Conv", {"x", "w"}, {"c"}).node("Clip", {"c", "low", "high"}, {"r"}, {}, "relu6");
  model.node("Conv", {"r", "v"}, {"y"});
  expect_left_alone(model, uneven({"r"}), "'c' goes to Clip 'relu6': factors cannot be folded into it");
}

TEST(Equalize, LeavesSharedParameters) {
  ModelBuilder weight = conv_and_relu();
  weight.output("y", kFloat, {1, 2, 3, 3}).output("z", kFloat, {1, 2, 3, 3});
  weight.initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  weight.node("Conv", {"r", "v"}, {"y"}, {}, "second").node("Conv", {"r", "v"}, {"z"});
  expect_left_alone(weight, uneven({"r"}), "Conv 'second': its parameters are shared with other nodes");

  ModelBuilder bias = conv_and_relu();
  bias.output("y", kFloat, {1, 2, 3, 3}).output("z", kFloat, {1, 4, 3, 3});
  bias.initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  bias.node("Conv", {"r", "v"}, {"y"}).node("Conv", {"x", "w", "b"}, {"z"});
  expect_left_alone(bias, uneven({"r"}), "node 'first': its parameters are shared with other nodes");
}

TEST(Equalize, LeavesWhatMultipliesAlongAnotherAxis) {
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 4}).output("y", kFloat, {1, 4, 2});
  model.initializer("w", {4, 3, 1}, noise({12})).initializer("v", {4, 2}, noise({8}, 3));
  model.node("Conv", {"x", "w"}, {"c"}).node("MatMul", {"c", "v"}, {"y"}, {}, "mix");
  expect_left_alone(model, uneven({"c"}), "'c' goes to MatMul 'mix': it multiplies along another axis");
}

TEST(Equalize, LeavesWhatWasNotObservedOrIsEvenAlready) {
  ModelBuilder model = conv_and_relu();
  model.output("y", kFloat, {1, 2, 3, 3}).initializer("v", {2, 4, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1});
  model.node("Conv", {"r", "v"}, {"y"});
  expect_left_alone(model, {}, "node 'first': the channels of 'r' were not observed");
  Ranges ranges;
  ranges.values["r"] = seen({1, 1, 1});
  expect_left_alone(model, ranges, "node 'first': the channels of 'r' were not observed");
  ranges.values["r"] = seen({1, 1, 1, 1});
  expect_left_alone(model, ranges, "node 'first': no factors are predicted to improve it");
}

TEST(Equalize, LeavesWhatIsNotFiniteOrWouldNotStaySo) {
  const auto model_with = [](const std::vector<float>& weight) {
    ModelBuilder model = conv_and_relu();
    model.output("y", kFloat, {1, 2, 3, 3}).initializer("v", {2, 4, 1, 1}, weight);
    model.node("Conv", {"r", "v"}, {"y"});
    return model;
  };
  expect_left_alone(model_with({1, 1, 1, 1, 1, 1, 1, HUGE_VALF}), uneven({"r"}),
                    "node 'first': no factors are predicted to improve it");
  expect_left_alone(model_with(std::vector<float>(8, 3e38F)), uneven({"r"}),
                    "node 'first': its new parameters would not be finite");
}

TEST(Equalize, KeepsChannelsThatWereNeverActive) {
  ModelBuilder model = conv_and_relu();
  model.output("y", kFloat, {1, 2, 3, 3}).initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  model.node("Conv", {"r", "v"}, {"y"});
  Ranges ranges;
  ranges.values["r"] = seen({0.1F, 12, 0, 1});
  expect_equalized(model, ranges);
  onnx::Model equal = read(model.bytes());
  equalize(equal, ranges);
  EXPECT_EQ(initializer(equal, "v")[2], noise({8}, 3)[2]);
  EXPECT_EQ(initializer(equal, "b")[2], noise({4}, 2)[2]);
}

TEST(Equalize, WorksInsideOfBranches) {
  GraphBuilder branch;
  branch.output("e", kFloat, {1, 2, 3, 3});
  branch.initializer("w", {4, 3, 3, 3}, noise({4, 3, 3, 3})).initializer("v", {2, 4, 1, 1}, noise({8}, 3));
  branch.node("Conv", {"x", "w"}, {"c"}).node("Conv", {"c", "v"}, {"e"});
  ModelBuilder model;
  model.input("x", kFloat, {1, 3, 5, 5}).input("which", 9, {}).output("y", kFloat, {1, 2, 3, 3});
  model.node(
      "If", {"which"}, {"y"},
      {graph_attribute("then_branch", branch.bytes()), graph_attribute("else_branch", branch.bytes())});
  expect_equalized(model, uneven({"y/then_branch/c", "y/else_branch/c"}), 2);
}

// x·g times w, [samples, channels] and [channels, outputs], as integer kernels compute it.
struct Simulation {
  static constexpr std::size_t kSamples = 200, kChannels = 64, kOutputs = 16;
  std::vector<float> x = noise({kSamples, kChannels}, 11);

  // Rounds `count` values with distance `stride` to int8 or uint8 with one scale.
  static void round_to_codes(double* values, std::size_t count, std::size_t stride, bool is_symmetric) {
    double low = 0, high = 0;
    for (std::size_t i = 0; i < count; ++i) {
      low = std::min(low, values[i * stride]);
      high = std::max(high, values[i * stride]);
    }
    const double step = is_symmetric ? std::max(-low, high) / 127 : (high - low) / 255;
    for (std::size_t i = 0; i < count; ++i) values[i * stride] = std::round(values[i * stride] / step) * step;
  }

  std::vector<double> run(const std::vector<float>& g, const std::vector<float>& w, bool is_quantized) const {
    std::vector<double> a(x.size()), b(w.begin(), w.end()), y(kSamples * kOutputs);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = double{x[i]} * g[i % kChannels];
    if (is_quantized) {
      round_to_codes(a.data(), a.size(), 1, false);
      for (std::size_t o = 0; o < kOutputs; ++o) round_to_codes(&b[o], kChannels, kOutputs, true);
    }
    for (std::size_t t = 0; t < kSamples; ++t) {
      for (std::size_t c = 0; c < kChannels; ++c) {
        for (std::size_t o = 0; o < kOutputs; ++o)
          y[t * kOutputs + o] += a[t * kChannels + c] * b[c * kOutputs + o];
      }
    }
    return y;
  }

  double error(const std::vector<float>& g, const std::vector<float>& w) const {
    const auto exact = run(g, w, false), rounded = run(g, w, true);
    double sum = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) sum += std::pow(exact[i] - rounded[i], 2);
    return sum;
  }
};

double decibels(double ratio) { return 10 * std::log10(ratio); }

TEST(Equalize, LowersTheErrorBesideAnOutlierAsMuchAsPredicted) {
  constexpr auto kChannels = std::int64_t{Simulation::kChannels},
                 kOutputs = std::int64_t{Simulation::kOutputs};
  const Simulation simulation;
  std::vector<float> g(Simulation::kChannels, 1);
  g[5] = 100;
  const std::vector<float> w = noise({kChannels, kOutputs}, 12);
  std::vector<float> activation = simulation.x;
  for (std::size_t i = 0; i < activation.size(); ++i) activation[i] *= g[i % Simulation::kChannels];
  Ranges ranges;
  ranges.values["n"].add(activation, Simulation::kChannels, 1);

  ModelBuilder model;
  model.input("x", kFloat, {2, kChannels}).output("y", kFloat, {2, kOutputs});
  model.initializer("g", {kChannels}, g).initializer("w", {kChannels, kOutputs}, w);
  model.node("Mul", {"x", "g"}, {"n"}, {}, "norm").node("MatMul", {"n", "w"}, {"y"});
  expect_equalized(model, ranges);

  onnx::Model equal = read(model.bytes());
  equalize(equal, ranges);
  const double gain =
      decibels(simulation.error(g, w) / simulation.error(initializer(equal, "g"), initializer(equal, "w")));
  const auto best = best_factors(std::vector<Product>{
      {extents_of(ranges.values["n"]), w, ChannelMap::along(Simulation::kOutputs, Simulation::kChannels),
       ChannelMap::along(1, Simulation::kOutputs)}});
  ASSERT_TRUE(best);
  EXPECT_GT(gain, 10);
  EXPECT_GT(best->gain_db, 10);
  EXPECT_NEAR(best->gain_db, gain, 2);
}

TEST(ChannelFactors, StayWithinTheirLimits) {
  const Product product{{{-1e3, 1e3, 3e5}, {-1, 1, .3}, {-1, 1, .3}, {-1, 1, .3}, {-1e-4, 1e-4, 3e-9}},
                        {1e-3F, 1, 1, 1, 1},
                        ChannelMap::along(1, 5),
                        ChannelMap::along(5, 1)};
  const auto best = best_factors(std::vector<Product>{product});
  ASSERT_TRUE(best);
  EXPECT_THAT(best->factors,
              testing::Each(testing::AllOf(testing::Ge(kSmallestFactor), testing::Le(kLargestFactor))));
}

// Uniform channels of different sizes: the mean of x² is one third of the squared size.
TEST(ChannelFactors, EstimateThePowerOfAChannel) {
  const std::vector<ChannelExtent> extents = extents_of(seen({1, 4, 0.25F}));
  ASSERT_EQ(extents.size(), 3U);
  for (const ChannelExtent& extent : extents)
    EXPECT_NEAR(extent.power / (extent.high * extent.high), 1.0 / 3, 0.03);
}

TEST(ChannelFactors, KnowNothingOfValuesThatAreNotFinite) {
  calibration::Statistics statistics;
  statistics.add(std::vector<float>{1, HUGE_VALF, 2, 3}, 2, 1);
  EXPECT_THAT(extents_of(statistics), IsEmpty());
}

TEST(ChannelFactors, WalkCountsChannelsInGroups) {
  std::vector<std::size_t> channels;
  ChannelWalk walk({4, 1, 2, 3});  // two groups of three rows of two channels
  for (int i = 0; i < 12; ++i, walk.advance()) channels.push_back(walk.channel());
  EXPECT_THAT(channels, ElementsAre(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3));
}

}  // namespace
}  // namespace ounce::passes
