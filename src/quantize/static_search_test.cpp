// The search for a static recipe, answered from a script: no model runs, and no clock is asked.
#include "quantize/static_search.h"

#include <gmock/gmock.h>

#include "formats/onnx/file/reader.h"
#include "quantize/calibrate.h"
#include "quantize/digests.h"
#include "quantize/pipeline.h"
#include "quantize/statement.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::quantization {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Pair;

// Each node on integers brings its noise, times what the calibration makes of it.
struct Script {
  std::map<std::string, double> noise;  // by the node's output
  std::map<CalibrationMethod, double> calibration;
  double corrected = 1;                             // what is left of the noise when biases are corrected
  std::set<std::string> together;                   // nodes: one of them is enough to drown everything …
  std::map<CalibrationMethod, double> drowned;      // … in noise that a calibration changes otherwise
  std::vector<std::uint64_t> meters;                // samples of each that was made
  std::uint64_t samples = 16;                       // that there are
  double spread = 0;                                // of the noise of a sample
  std::uint64_t few = 0;                            // that estimates are made of …
  std::size_t chosen = 0;                           // … and how often they were chosen
  double promised = 1;                              // … and what of the noise they see
  std::map<CalibrationMethod, double> promised_by;  // … with a calibration, instead
  std::size_t measured = 0, estimated = 0;          // a guess is measured too
  std::vector<Recipe> asked;
};

class ScriptedMeter : public CandidateError {
 public:
  ScriptedMeter(Script& script, std::uint64_t samples) : script_(script), samples_(samples) {
    script_.meters.push_back(samples);
  }
  double estimate(const StaticModel& prepared, const Recipe& recipe) override {
    ++script_.estimated;
    const auto promised = script_.promised_by.find(recipe.integer.calibration);
    return (promised == script_.promised_by.end() ? script_.promised : promised->second) *
           error(prepared, recipe);
  }
  void choose_few(std::uint64_t samples) override {
    script_.few = samples;
    ++script_.chosen;
  }
  double error(const StaticModel&, const Recipe& recipe) override {
    ++script_.measured;
    script_.asked.push_back(recipe);
    double noise = 0;
    for (const auto& [output, of_node] : script_.noise)
      noise += recipe.nodes.contains(output) ? 1e-9 : of_node;
    const auto factor = script_.calibration.find(recipe.integer.calibration);
    if (factor != script_.calibration.end()) noise *= factor->second;
    const auto drowns = [&](const std::string& output) { return !recipe.nodes.contains(output); };
    if (std::any_of(script_.together.begin(), script_.together.end(), drowns)) {
      const auto other = script_.drowned.find(recipe.integer.calibration);
      noise = other == script_.drowned.end() ? 0.5 : 0.5 * other->second;
    }
    return recipe.integer.correct_bias ? noise * script_.corrected : noise;
  }
  double spread() const override { return script_.spread; }
  std::uint64_t samples() const override { return samples_; }
  std::size_t measured() const override { return script_.measured; }

 private:
  Script& script_;
  std::uint64_t samples_;
};

// x ─ Conv ─ a ─ Conv ─ b ─ … ─ f, with values that somebody saw.
struct StaticSearchTest : testing::Test {
  StaticSearchTest() {
    make_model(16, 8, {});
    for (const char* output : {"a", "b", "c", "d", "e", "f"}) script.noise[output] = 1e-5;
  }
  // Of so many channels, in pictures of so many pixels, with kernels of 3 × 3 but for the small ones.
  void make_model(int channels, int side, const std::set<std::string>& large, std::uint64_t samples = 1) {
    ounce::test::ModelBuilder model;
    const auto wide = static_cast<std::int64_t>(channels), high = static_cast<std::int64_t>(side);
    model.input("x", ounce::test::kFloat, {1, wide, high, high})
        .output("f", ounce::test::kFloat, {1, wide, high, high});
    std::string from = "x";
    calibration::Ranges ranges;
    ranges.samples = samples;
    std::vector<float> seen(static_cast<std::size_t>(channels * side * side));
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = 0.001F * static_cast<float>(i % 1024) - 0.4F;
    ranges.values["x"].add(seen);
    for (const char* to : {"a", "b", "c", "d", "e", "f"}) {
      const std::int64_t kernel = large.contains(to) ? 3 : 1, pad = kernel / 2;
      std::vector<float> weights(static_cast<std::size_t>(wide * wide * kernel * kernel));
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = 0.01F * static_cast<float>((i * 31) % 17) - 0.08F;
      model.initializer(std::string("w") + to, {wide, wide, kernel, kernel}, weights);
      model.node("Conv", {from, std::string("w") + to}, {to},
                 {ounce::test::ints_attribute("pads", {pad, pad, pad, pad})}, std::string("node ") + to);
      ranges.values[to].add(seen);
      from = to;
    }
    path = folder / "model.onnx";
    ounce::test::write_file(path, model.bytes());
    ThreadPool pool(1);
    ranges.model = source_digest(onnx::read_model(path), {}, pool);
    options.ranges = folder / "model.ranges";
    write_ranges(ranges, options.ranges);
    options.recipe.format = Format::kInt8;
  }
  Recipe run(const StaticLimits& limits = {}) {
    const auto make_meter = [this](std::uint64_t samples) {
      return std::make_unique<ScriptedMeter>(script, std::min(samples, script.samples));
    };
    return search_static(options, limits, make_meter, prepare_model(path, options), as_it_is(options.recipe),
                         notes)
        .recipe;
  }
  ounce::test::TemporaryFolder folder;
  std::filesystem::path path;
  QuantizeOptions options;
  Script script;
  std::vector<std::string> notes;
};

TEST_F(StaticSearchTest, WhatIsCloseEnoughIsLeftAlone) {
  const Recipe recipe = run();
  EXPECT_THAT(recipe.nodes, IsEmpty());
  EXPECT_EQ(recipe.integer.calibration, CalibrationMethod::kAuto);
  EXPECT_LE(script.measured, 6U);  // four calibrations, and the correction of biases
}

TEST_F(StaticSearchTest, TheCalibrationThatIsClosestWins) {
  script.calibration = {{CalibrationMethod::kMinMax, 0.5}};
  EXPECT_EQ(run().integer.calibration, CalibrationMethod::kMinMax);
  EXPECT_THAT(notes, Contains(HasSubstr("Calibration: minmax (")));
}

TEST_F(StaticSearchTest, TheNoteSaysWhyTheMethodThatWasBestOnFewSamplesIsNotTaken) {
  script.samples = 64;
  script.promised_by = {{CalibrationMethod::kMinMax, 0.5}};
  script.calibration = {{CalibrationMethod::kMinMax, 1.5}};
  StaticLimits limits;
  limits.most_work = 1e7;
  EXPECT_EQ(run(limits).integer.calibration, CalibrationMethod::kAuto);
  EXPECT_THAT(notes, Contains(MatchesRegex("Calibration: per-tensor MSE \\(42.2 dB\\). minmax was better on "
                                           "2 samples \\(43.5 dB\\) but worse on 12 \\(40.5 dB\\)")));
}

TEST_F(StaticSearchTest, EstimatesUseAsManySamplesAsTheSpreadOfTheNoiseAsksFor) {
  make_model(16, 8, {}, 64);
  script.samples = 60;
  StaticLimits limits;
  limits.passes = 4;
  script.spread = 0.1;  // all samples are alike
  run(limits);
  EXPECT_THAT(script.meters, ElementsAre(60U));  // all
  EXPECT_EQ(script.few, 2U);
  script.spread = 0.24;
  run(limits);
  EXPECT_EQ(script.few, 4U);
  script.spread = 3;  // more than can be paid for
  run(limits);
  EXPECT_EQ(script.few, 6U);
}

TEST_F(StaticSearchTest, TheNoteSaysThatSmallDifferencesDoNotCount) {
  script.calibration = {{CalibrationMethod::kMinMax, 0.95}};
  EXPECT_EQ(run().integer.calibration, CalibrationMethod::kAuto);
  EXPECT_THAT(notes,
              Contains(AllOf(HasSubstr("Calibration: per-tensor MSE (42.2 dB"), HasSubstr("minmax (42.4 dB)"),
                             HasSubstr("Differences below 0.5 dB do not count"))));
}

TEST_F(StaticSearchTest, ACalibrationThatWasAskedForStays) {
  options.recipe.integer.calibration = CalibrationMethod::kEntropy;
  script.calibration = {{CalibrationMethod::kMinMax, 0.5}};
  EXPECT_EQ(run().integer.calibration, CalibrationMethod::kEntropy);
}

TEST_F(StaticSearchTest, OnlyWhatSpoilsTheOutputsStaysInFloats) {
  script.noise["c"] = 0.4;
  script.noise["e"] = 0.2;
  EXPECT_THAT(run().nodes, ElementsAre(Pair("c", Format::kW8), Pair("e", Format::kW8)));
  EXPECT_THAT(notes, Contains(HasSubstr("2 nodes kept in FP32, without which the outputs are unusable")));
}

TEST_F(StaticSearchTest, GuessesThatPromiseTooMuchAreNoReasonToGiveUp) {
  for (auto& [output, noise] : script.noise) noise = 0.004;
  script.promised = 0.2;
  script.samples = 64;
  StaticLimits limits;
  limits.most_work = 1e7;
  EXPECT_EQ(run(limits).nodes.size(), 4U);
  EXPECT_THAT(
      notes,
      Contains(HasSubstr("4 nodes kept in FP32, without which the outputs are unusable: 16.2 → 21.0 dB")));
}

TEST_F(StaticSearchTest, AModelThatStandsNoIntegersIsFloats) {
  for (auto& [output, noise] : script.noise) noise = 0.5;
  EXPECT_EQ(run().nodes.size(), 6U);
  EXPECT_THAT(notes, Contains(HasSubstr("do not stand integer arithmetic")));
}

// Both spoil everything, and whoever leaves out one of them sees no difference.
TEST_F(StaticSearchTest, WhatOnlyHelpsTogetherIsFound) {
  script.together = {"a", "d"};
  EXPECT_THAT(run().nodes, ElementsAre(Pair("a", Format::kW8), Pair("d", Format::kW8)));
}

// In the noise of a bad node a calibration looks best that is the worst without it.
TEST_F(StaticSearchTest, ACalibrationIsChosenWithoutTheWorstNodes) {
  script.together = {"a"};
  script.drowned = {{CalibrationMethod::kPercentile, 0.2}};
  script.calibration = {{CalibrationMethod::kPercentile, 50}, {CalibrationMethod::kMinMax, 0.1}};
  for (auto& [output, noise] : script.noise) noise = 3e-4;
  const Recipe recipe = run();
  EXPECT_THAT(recipe.nodes, ElementsAre(Pair("a", Format::kW8)));
  EXPECT_EQ(recipe.integer.calibration, CalibrationMethod::kMinMax);
}

// Both bring the same noise; one of them is next to nothing of the time.
TEST_F(StaticSearchTest, OutputsMayCostLittleTime) {
  make_model(64, 28, {"a", "b", "c", "d", "e"});
  script.noise["f"] = script.noise["c"] = 1e-3;
  EXPECT_THAT(run().nodes, ElementsAre(Pair("f", Format::kW8)));
  EXPECT_THAT(notes,
              Contains(AllOf(HasSubstr("node f kept in FP32: 26.9 → 29.8 dB"), HasSubstr("% slower"))));
}

TEST_F(StaticSearchTest, OutputsThatDoTheirWorkDoNotCostMuchTime) {
  make_model(64, 28, {"a", "b", "c", "d", "e", "f"});
  for (auto& [output, noise] : script.noise) noise = 5e-4;
  EXPECT_THAT(run().nodes, IsEmpty());
}

// With b to f as they are at first, more than a has to be left out; with another calibration they are quiet.
TEST_F(StaticSearchTest, WhatIsNoLongerNeededGoesBackToIntegers) {
  script.together = {"a"};
  for (auto& [output, noise] : script.noise) noise = 3e-3;
  script.calibration = {{CalibrationMethod::kMinMax, 0.01}};
  EXPECT_THAT(run().nodes, ElementsAre(Pair("a", Format::kW8)));
  EXPECT_THAT(notes, Contains(HasSubstr("moved back to INT8")));
}

// f is left to floats first, and would do well on integers alone; but then there is nothing else.
TEST_F(StaticSearchTest, WhatIsGivenUpDoesNotGoBack) {
  make_model(64, 28, {"a", "b", "c", "d", "e"});
  for (auto& [output, noise] : script.noise) noise = 0.5;
  script.noise["f"] = 1e-4;
  EXPECT_EQ(run().nodes.size(), 6U);
  EXPECT_THAT(notes, Contains(HasSubstr("do not stand integer arithmetic")));
}

TEST_F(StaticSearchTest, GuessesAreMadeOfSamplesThatTellAboutTheBestSoFar) {
  make_model(64, 28, {"a", "b", "c", "d", "e"});
  script.noise["f"] = 3e-3;
  script.samples = 64;
  StaticLimits limits;
  limits.most_work = 1e7;
  EXPECT_THAT(run(limits).nodes, ElementsAre(Pair("f", Format::kW8)));
  EXPECT_GE(script.chosen, 2U);
}

TEST_F(StaticSearchTest, OneSampleIsEnough) {
  script.together = {"c"};
  script.samples = 1;
  EXPECT_THAT(run().nodes, ElementsAre(Pair("c", Format::kW8)));
  EXPECT_THAT(script.meters, ElementsAre(1));
}

// Few samples are asked where each of them costs much, and what they say is confirmed on more.
TEST_F(StaticSearchTest, LargeModelsAreSearchedOnFewSamples) {
  script.together = {"c"};
  StaticLimits limits;
  limits.most_work = 1;  // then every model is a large one
  EXPECT_THAT(run(limits).nodes, ElementsAre(Pair("c", Format::kW8)));
  EXPECT_THAT(script.meters, ElementsAre(12));
  EXPECT_EQ(script.few, 2U);
  EXPECT_LT(script.measured, 60U);
  EXPECT_LT(script.measured - script.estimated, 12U);
}

TEST_F(StaticSearchTest, ACorrectionIsTakenWhenItHelps) {
  script.corrected = 0.5;
  EXPECT_TRUE(run().integer.correct_bias);
  script.corrected = 1.5;
  EXPECT_FALSE(run().integer.correct_bias);
}

TEST_F(StaticSearchTest, ALimitEndsItWithTheBestSoFar) {
  script.noise["c"] = 0.4;
  for (std::size_t most = 0; most < 12; ++most) {
    script.measured = 0;
    StaticLimits limits;
    limits.has_time = [&] { return script.measured < most; };
    run(limits);
    EXPECT_LE(script.measured, most + 3);  // the first, the last, and one that had begun
  }
}

TEST_F(StaticSearchTest, TheSameQuestionsInTheSameOrderEveryTime) {
  script.noise["c"] = 0.4;
  run();
  const std::vector<Recipe> first = std::exchange(script.asked, {});
  run();
  ASSERT_EQ(script.asked.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(script.asked[i].nodes, first[i].nodes) << i;
    EXPECT_EQ(script.asked[i].integer.calibration, first[i].integer.calibration) << i;
  }
}

}  // namespace
}  // namespace ounce::quantization
