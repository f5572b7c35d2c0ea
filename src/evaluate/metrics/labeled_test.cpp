#include <gmock/gmock.h>

#include <cmath>

#include "evaluate/metrics/metric_info.h"
#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::test::described;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::HasSubstr;

// A meter that is fed sample by sample.
class Measured {
 public:
  Measured(const char* metric, const data::Dims& shape)
      : meter_(find_metric(Task::kAuto, metric)->make({{described("y", ElementType::kFloat, shape)}})) {}

  Measured& add(const data::Dims& dims, const std::vector<float>& reference,
                const std::vector<float>& candidate, const data::Tensor& label) {
    const data::Tensor ours = tensor_of<float>(dims, reference), theirs = tensor_of<float>(dims, candidate);
    const data::TensorView a = ours, b = theirs;
    meter_->add({{&a, 1}, {&b, 1}, &label, {}, "sample 0"});
    return *this;
  }
  // Scores of one sample [1, C], and its class.
  Measured& add(const std::vector<float>& reference, const std::vector<float>& candidate,
                std::int64_t label) {
    return add({1, static_cast<std::int64_t>(reference.size())}, reference, candidate,
               tensor_of<std::int64_t>({}, {label}));
  }
  std::vector<MetricResult> results() const { return meter_->results(); }
  MetricResult first() const { return results().front(); }

 private:
  std::unique_ptr<Meter> meter_;
};

TEST(MetricTest, Accuracy) {
  Measured measured("accuracy", {-1, 3});
  measured.add({1, 2, 3}, {3, 2, 1}, 2).add({1, 2, 3}, {1, 2, 3}, 2);
  measured.add({1, 2, 3}, {1, 3, 2}, 0).add({9, 2, 3}, {9, 3, 2}, 0);
  ASSERT_EQ(measured.results().size(), 1U);
  const MetricResult result = measured.first();
  EXPECT_EQ(result.name, "top1_accuracy");
  EXPECT_TRUE(result.higher_is_better);
  EXPECT_EQ(result.reference, 0.75);
  EXPECT_EQ(result.candidate, 0.5);
  EXPECT_EQ(result.drop, 0.25);
  EXPECT_LE(result.drop_low, 0.25);
  EXPECT_GE(result.drop_high, 0.25);
}

TEST(MetricTest, TopFiveStandsBesideAccuracyOfManyClasses) {
  Measured measured("accuracy", {-1, 6});
  measured.add({6, 5, 4, 3, 2, 1}, {6, 5, 4, 3, 1, 2}, 4);
  const std::vector<MetricResult> results = measured.results();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].reference, 0);
  EXPECT_EQ(results[1].name, "top5_accuracy");
  EXPECT_EQ(results[1].reference, 1);
  EXPECT_EQ(results[1].candidate, 0);
}

TEST(MetricTest, ALabelForEveryRow) {
  Measured pixels("accuracy", {-1, 2, 1, 2});
  pixels.add({1, 2, 1, 2}, {1, 0, 0, 1}, {0, 0, 1, 1}, tensor_of<std::uint8_t>({1, 2}, {0, 1}));
  EXPECT_EQ(pixels.first().reference, 1);
  EXPECT_EQ(pixels.first().candidate, 0.5);
}

TEST(MetricTest, LabelsOfMinusHundredDoNotCount) {
  for (const char* metric : {"accuracy", "nll", "brier", "ece", "f1"}) {
    Measured whole(metric, {-1, -1, 2}), cut(metric, {-1, -1, 2});
    whole.add({1, 3, 2}, {1, 0, 0, 1, 1, 0}, {1, 0, 1, 0, 1, 0}, tensor_of<std::int64_t>({3}, {0, 1, -100}));
    cut.add({1, 2, 2}, {1, 0, 0, 1}, {1, 0, 1, 0}, tensor_of<std::int64_t>({2}, {0, 1}));
    EXPECT_EQ(whole.first().reference, cut.first().reference);
    EXPECT_EQ(whole.first().candidate, cut.first().candidate);
  }
}

TEST(MetricTest, LikelihoodOfTheLabel) {
  Measured measured("nll", {-1, 2});
  const float a = std::log(3.F);
  measured.add({a, 0}, {0, 0}, 0);        // 3/4 and 1/2
  measured.add({1000, 1000}, {0, 0}, 1);  // 1/2, without overflow
  const std::vector<MetricResult> results = measured.results();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].name, "nll");
  EXPECT_FALSE(results[0].higher_is_better);
  const double reference = (std::log(4. / 3) + std::log(2.)) / 2, candidate = std::log(2.);
  EXPECT_NEAR(results[0].reference, reference, 1e-7);
  EXPECT_NEAR(results[0].candidate, candidate, 1e-12);
  EXPECT_NEAR(results[0].drop, candidate - reference, 1e-7);
  EXPECT_LE(results[0].drop_low, results[0].drop);
  EXPECT_GE(results[0].drop_high, results[0].drop);
  EXPECT_EQ(results[1].name, "perplexity");
  EXPECT_NEAR(results[1].candidate, 2, 1e-12);
  EXPECT_NEAR(results[1].reference, std::exp(reference), 1e-6);
}

TEST(MetricTest, LikelihoodTakesProbabilitiesAsTheyAre) {
  Measured measured("nll", {-1, 2});
  measured.add({0.75F, 0.25F}, {0.5F, 0.5F}, 0);
  EXPECT_NEAR(measured.first().reference, std::log(4. / 3), 1e-6);
  EXPECT_NEAR(measured.first().candidate, std::log(2.), 1e-6);
  Measured certain("nll", {-1, 2});
  certain.add({1, 0}, {1, 0}, 1);  // probability 0 in both models: a large number, not infinity
  EXPECT_GT(certain.first().reference, 10);
  EXPECT_LT(certain.first().reference, 20);
}

TEST(MetricTest, BrierScoreOfTwoClassesIsTheSquaredErrorOfOne) {
  Measured measured("brier", {-1, 2});
  measured.add({0.8F, 0.2F}, {0.6F, 0.4F}, 0);
  measured.add({0.5F, 0.5F}, {0.5F, 0.5F}, 1);
  const MetricResult result = measured.first();
  EXPECT_EQ(result.name, "brier_score");
  EXPECT_FALSE(result.higher_is_better);
  EXPECT_NEAR(result.reference, (0.04 + 0.25) / 2, 1e-6);
  EXPECT_NEAR(result.candidate, (0.16 + 0.25) / 2, 1e-6);
  EXPECT_NEAR(result.drop, 0.06, 1e-6);
}

TEST(MetricTest, BrierScoreOfSeveralClassesAndOfScoresWithoutSoftmax) {
  Measured three("brier", {-1, 3});
  three.add({0.5F, 0.3F, 0.2F}, {0, 0, 1}, 0);
  EXPECT_NEAR(three.first().reference, 0.25 + 0.09 + 0.04, 1e-6);
  EXPECT_NEAR(three.first().candidate, 2, 1e-6);
  Measured scores("brier", {-1, 2});
  scores.add({std::log(3.F), 0}, {-5, -5}, 0);  // 3/4 and 1/2
  EXPECT_NEAR(scores.first().reference, 1. / 16, 1e-6);
  EXPECT_NEAR(scores.first().candidate, 1. / 4, 1e-6);
}

// 10 predictions at probability 0.8, of which 8 are right, are perfectly calibrated.
TEST(MetricTest, CalibrationErrorIsTheDistanceBetweenConfidenceAndAccuracy) {
  Measured measured("ece", {-1, 2});
  for (int i = 0; i < 10; ++i) measured.add({0.8F, 0.2F}, {0.6F, 0.4F}, i < 8 ? 0 : 1);
  const MetricResult result = measured.first();
  EXPECT_EQ(result.name, "calibration_error");
  EXPECT_FALSE(result.higher_is_better);
  EXPECT_NEAR(result.reference, 0, 1e-6);
  EXPECT_NEAR(result.candidate, 0.2, 1e-6);
  EXPECT_NEAR(result.drop, 0.2, 1e-6);
  EXPECT_LE(result.drop_low, result.drop);
  EXPECT_GE(result.drop_high, result.drop);
}

TEST(MetricTest, CalibrationErrorAddsUpOverTheBins) {
  Measured measured("ece", {-1, 2});
  for (int i = 0; i < 4; ++i) measured.add({1, 0}, {1, 0}, i % 2);    // 1.0, right in half of the cases
  for (int i = 0; i < 4; ++i) measured.add({0.4F, 0.6F}, {1, 0}, 1);  // 0.6, always right
  EXPECT_NEAR(measured.first().reference, 0.5 * 0.5 + 0.5 * 0.4, 1e-6);
  EXPECT_NEAR(measured.first().candidate, 0.75, 1e-6);
}

TEST(MetricTest, MacroF1OverTheClassesThatOccur) {
  Measured measured("f1", {-1, 4});
  const std::vector<float> zero = {1, 0, 0, 0}, one = {0, 1, 0, 0}, two = {0, 0, 1, 0};
  measured.add(zero, zero, 0).add(one, zero, 0).add(one, one, 1).add(one, two, 1);
  // Reference: class 0 has tp 1, fn 1: 2/3; class 1 has tp 2, fp 1: 4/5. Classes 2 and 3 do not occur.
  EXPECT_NEAR(measured.first().reference, (2. / 3 + 4. / 5) / 2, 1e-12);
  // Candidate: class 0 has tp 2: 1; class 1 has tp 1, fn 1: 2/3; class 2 has fp 1: 0.
  EXPECT_NEAR(measured.first().candidate, (1 + 2. / 3 + 0) / 3, 1e-12);
  EXPECT_EQ(measured.first().name, "f1");
}

TEST(MetricTest, MeanAbsoluteErrorOverAllValues) {
  Measured measured("mae", {-1, -1});
  measured.add({1, 2}, {1, 2}, {2, 2}, tensor_of<float>({2}, {0, 2}));
  measured.add({1, 2}, {5, 5}, {5, 5}, tensor_of<float>({2}, {5, 6}));
  const MetricResult result = measured.first();
  EXPECT_EQ(result.name, "mean_absolute_error");
  EXPECT_FALSE(result.higher_is_better);
  EXPECT_EQ(result.reference, 0.5);
  EXPECT_EQ(result.candidate, 0.75);
  EXPECT_EQ(result.drop, 0.25);
}

TEST(MetricTest, AnErrorKnowsHowLargeItsLabelsAre) {
  Measured measured("mae", {-1, -1});
  measured.add({1, 2}, {3, -4}, {3, -4}, tensor_of<float>({2}, {3, -5}));
  const std::vector<MetricResult> results = measured.results();
  EXPECT_EQ(results[0].label_size, 4);
  EXPECT_DOUBLE_EQ(results[0].rounding, 4e-4);
  EXPECT_EQ(results[1].label_size, 17);
  EXPECT_DOUBLE_EQ(results[1].rounding, 17e-8);
}

TEST(MetricTest, OneModelTwiceDropsNothing) {
  Measured measured("accuracy", {-1, 2});
  for (int i = 0; i < 20; ++i) measured.add({1, 0}, {1, 0}, i % 2);
  EXPECT_EQ(measured.first().drop, 0);
  EXPECT_EQ(measured.first().drop_low, 0);
  EXPECT_EQ(measured.first().drop_high, 0);
}

Error refusal(const char* metric, const data::Dims& shape, const data::Dims& dims,
              const data::Tensor& label) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  const std::vector<float> scores(static_cast<std::size_t>(count), 1);
  return error_of([&] { Measured(metric, shape).add(dims, scores, scores, label); });
}

TEST(MetricTest, AnotherNumberOfLabelsIsRefused) {
  const auto two = tensor_of<std::int64_t>({2}, {0, 1});
  for (const char* metric : {"accuracy", "nll", "f1"}) {
    const Error error = refusal(metric, {-1, 3}, {1, 3}, two);
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("2 labels, but the output has 1 rows of 3 classes"));
    EXPECT_EQ(error.where(), "sample 0");
  }
  EXPECT_THAT(refusal("mae", {-1, 3}, {1, 3}, tensor_of<float>({2}, {0, 1})).what(),
              HasSubstr("2 values, but the output has 3"));
}

TEST(MetricTest, ALabelThatIsNoClassIsRefused) {
  for (const std::int64_t label : {3, -1, 99}) {
    const Error error = refusal("accuracy", {-1, 3}, {1, 3}, tensor_of<std::int64_t>({}, {label}));
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("not one of the 3 classes"));
  }
  EXPECT_THAT(refusal("accuracy", {-1, 3}, {1, 3}, tensor_of<float>({}, {0.5})).what(),
              HasSubstr("not one of the 3 classes"));
}

// The runtime only warns of such a model.
TEST(MetricTest, AnOutputThatIsNotAsTheModelSaysIsRefused) {
  const auto label = tensor_of<std::int64_t>({}, {0});
  for (const char* metric : {"accuracy", "nll", "f1"}) {
    EXPECT_EQ(refusal(metric, {-1, -1, 3}, {3}, label).code(), ErrorCode::kBadInput);
    EXPECT_EQ(refusal(metric, {-1, 3}, {1, 4}, label).code(), ErrorCode::kBadInput);
  }
}

TEST(MetricTest, ClassesNeedAnOutputThatHasThem) {
  const Error error = error_of([] { Measured("accuracy", {-1, 1}); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("'y' is float32[?,1]"));
  EXPECT_EQ(error_of([] { Measured("f1", {-1, 2001}); }).code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace ounce::evaluate
