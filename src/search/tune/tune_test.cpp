// Tests the search for mixed precision, on small models with one layer that loses all accuracy in INT8.
#include <gmock/gmock.h>
#include <ounce/error.h>
#include <ounce/search.h>

#include <algorithm>
#include <fstream>

#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/fatal_layer.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using data::test::bytes_of;
using data::test::npy_bytes;
using data::test::ZipBytes;
using test::error_of;
using testing::Contains;
using testing::HasSubstr;

std::string format_of(const TuneResult& result, const std::string& layer) {
  for (const LayerChoice& choice : result.layers) {
    if (choice.name == layer) return name_of(choice.format);
  }
  return "no such layer";
}

struct TuneTest : testing::Test {
  TuneTest() {
    const test::FatalLayer fatal;
    test::write_file(model, fatal.model);
    test::write_file(folder / "data.npz",
                     ZipBytes()
                         .add("x.npy", npy_bytes("<f4", "(64, 32)", bytes_of(fatal.inputs)))
                         .add("label.npy", npy_bytes("<i8", "(64,)", bytes_of(fatal.labels)))
                         .bytes());
    options.data.path = folder / "data.npz";
    options.data.labels = "label";
    options.gates.max_drop = 0.005;
    options.gates.confidence = 0;  // 64 samples cannot show that
    options.objective = Objective::kSize;
    options.budget.models = 60;  // does not depend on timings
    options.cache = folder / "cache";
  }
  TuneResult tuned() { return tune(model, output, options); }
  std::filesystem::path journal() const {
    return std::filesystem::directory_iterator(folder / "cache")->path();
  }

  test::TemporaryFolder folder;
  std::filesystem::path model = folder / "model.onnx", output = folder / "tuned.onnx";
  TuneOptions options;
};

TEST_F(TuneTest, TheFatalLayerKeepsMoreBits) {
  const TuneResult result = tuned();
  ASSERT_TRUE(result.passed);
  EXPECT_EQ(result.output, output);
  EXPECT_EQ(result.search_samples + result.held_out_samples, 64U);
  EXPECT_THAT(format_of(result, "third"), testing::AnyOf("w16", "fp32"));
  const auto is_small = [](const LayerChoice& layer) {
    return layer.format != Format::kW16 && layer.format != Format::kFp32;
  };
  EXPECT_EQ(std::count_if(result.layers.begin(), result.layers.end(), is_small), 4);
  VerifyOptions how;
  how.data = options.data;
  how.gates = options.gates;
  EXPECT_TRUE(verify(model, output, how).passed);
  EXPECT_EQ(std::filesystem::file_size(output) < std::filesystem::file_size(model), true);
}

TEST_F(TuneTest, ASecondRunKnowsEverything) {
  const TuneResult first = tuned();
  const std::string written = test::read_file(output);
  const auto size = std::filesystem::file_size(journal());
  const TuneResult second = tuned();
  EXPECT_EQ(std::filesystem::file_size(journal()), size);
  EXPECT_GT(second.recalled, first.recalled);
  EXPECT_EQ(second.best.name, first.best.name);
  EXPECT_EQ(test::read_file(output), written);
}

TEST_F(TuneTest, AKilledRunEndsWithTheSameModel) {
  const TuneResult undisturbed = tuned();
  const std::string written = test::read_file(output);
  std::string lines = test::read_file(journal());
  test::write_file(journal(),
                   lines.substr(0, lines.size() / 2));  // ends in the middle of a line, as after a kill
  std::filesystem::remove(output);
  const TuneResult resumed = tuned();
  EXPECT_GT(resumed.recalled, 0U);
  EXPECT_EQ(resumed.best.name, undisturbed.best.name);
  EXPECT_EQ(test::read_file(output), written);
}

TEST_F(TuneTest, ThatTimeWasUpIsNoFactAboutAModel) {
  options.budget = {0.05, 0};
  EXPECT_TRUE(tuned().is_out_of_time);
  EXPECT_THAT(test::read_file(journal()), testing::Not(HasSubstr("time was up")));
}

TEST_F(TuneTest, WhenNothingPassesTheClosestIsKept) {
  options.gates = {};
  options.gates.min_sqnr = 300;
  const TuneResult result = tuned();
  EXPECT_FALSE(result.passed);
  EXPECT_FALSE(std::filesystem::exists(output));
  EXPECT_EQ(result.closest, folder / "tuned.closest.onnx");
  EXPECT_TRUE(std::filesystem::exists(result.closest));
  EXPECT_THAT(result.best.verdict, HasSubstr("300 dB"));
}

TEST_F(TuneTest, FewSamplesGiveTheSafestModelAndSayHowManyWouldDo) {
  options.gates.max_drop = 0.02;
  options.gates.confidence.reset();
  const TuneResult result = tuned();
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.confidence, kUsualConfidence);
  EXPECT_EQ(result.best.name, "w16");
  EXPECT_EQ(result.samples_needed, 149U);  // 0.98^149 < 5 %
  EXPECT_THAT(result.best.verdict,
              HasSubstr("64 samples show only a loss of 4.57 points or less at 95 % "
                        "confidence; to show 2.00 points or less (`gates.max_drop`) takes 149"));
  EXPECT_EQ(result.trials.size(), 2U);  // no further candidates, because none could pass
  EXPECT_TRUE(std::filesystem::exists(result.closest));
}

TEST_F(TuneTest, WhatTheSamplesCanShowPasses) {
  options.gates.max_drop = 0.1;
  options.gates.confidence = 0.9;
  const TuneResult result = tuned();
  ASSERT_TRUE(result.passed) << result.best.verdict;
  EXPECT_THAT(format_of(result, "third"), testing::AnyOf("w16", "fp32"));
  EXPECT_THAT(result.held_out.verdict, HasSubstr("points or less at 9"));
}

TEST_F(TuneTest, LabelsWithoutAGateBringOne) {
  options.gates.max_drop.reset();
  const TuneResult result = tuned();
  ASSERT_TRUE(result.passed);
  EXPECT_THAT(result.notes, Contains(HasSubstr("the metric may drop by 1 point")));
  EXPECT_THAT(result.held_out.verdict, HasSubstr("the allowed 1.00 points (`gates.max_drop`)"));
}

TEST_F(TuneTest, WithoutLabelsOutputsDecide) {
  options.data.labels.clear();
  const TuneResult result = tuned();
  ASSERT_TRUE(result.passed);
  EXPECT_GE(result.held_out.sqnr_db, kDefaultTuneSqnr);
  EXPECT_THAT(result.notes, Contains(HasSubstr("there are no labels")));
}

TEST_F(TuneTest, NothingIsKeptUnlessWanted) {
  options.keep = false;
  options.budget.models = 5;
  EXPECT_TRUE(tuned().passed);
  EXPECT_FALSE(std::filesystem::exists(folder / "cache"));
}

TEST_F(TuneTest, ATargetIsKeptTo) {
  options.budget.models = 5;
  options.target = "android-arm64@1.17.3";
  EXPECT_TRUE(tuned().passed);
  options.target = "nowhere";
  EXPECT_THROW(tuned(), Error);
}

TEST_F(TuneTest, SenselessRequestsAreRefused) {
  EXPECT_EQ(error_of([&] { tune(model, model, options); }).code(), ErrorCode::kUsage);
  options.budget = {0, 0};
  EXPECT_EQ(error_of([&] { tuned(); }).code(), ErrorCode::kUsage);
  options.budget = {10, 0};
  options.gates.confidence = 1;
  EXPECT_THAT(error_of([&] { tuned(); }).what(), HasSubstr("at least 50 % and below 100 %"));
  options.gates.confidence = 0;
  options.data = {};
  EXPECT_THAT(error_of([&] { tuned(); }).what(), HasSubstr("give `data`"));
}

TEST_F(TuneTest, ChainsOfManyLayersAreTakenInBlocks) {
  test::write_file(model, test::chain_model(40, 20));
  test::write_file(folder / "data.npz",
                   ZipBytes()
                       .add("x.npy", npy_bytes("<f4", "(64, 20)",
                                               bytes_of(test::floats_of(test::even_numbers(7, 64 * 20)))))
                       .bytes());
  options.data.labels.clear();
  options.gates = {};
  const TuneResult result = tuned();
  ASSERT_TRUE(result.passed) << testing::PrintToString(result.notes) << result.best.name
                             << result.best.verdict << result.seconds;
  EXPECT_THAT(format_of(result, "layer020"), testing::AnyOf("w16", "fp32"));
}

}  // namespace
}  // namespace ounce
