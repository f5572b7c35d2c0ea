#include "evaluate/compare/difference.h"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::test::described;
using data::test::strings_of;
using data::test::tensor_of;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfiniteValue = std::numeric_limits<float>::infinity();
constexpr double kEndless = std::numeric_limits<double>::infinity();

Difference difference(const std::vector<float>& reference, const std::vector<float>& candidate) {
  Difference sums;
  sums.add(reference, candidate);
  return sums;
}

// 19 values: longer than two groups of eight parallel sums, plus a remainder.
std::vector<float> with(std::size_t place, float value) {
  std::vector<float> values(19, 1);
  values[place] = value;
  return values;
}

TEST(DifferenceTest, SumsByHand) {
  const Difference sums = difference({1, 2, 3}, {1, 4, 0});
  EXPECT_EQ(sums.values, 3U);
  EXPECT_DOUBLE_EQ(sums.mean_abs(), 5. / 3);
  EXPECT_DOUBLE_EQ(sums.squared, 13);
  EXPECT_DOUBLE_EQ(sums.largest, 3);
  EXPECT_DOUBLE_EQ(sums.sqnr_db(), 10 * std::log10(14. / 13));
  EXPECT_DOUBLE_EQ(sums.cosine(), 9 / std::sqrt(14. * 17));
}

TEST(DifferenceTest, LongRowsGiveWhatShortOnesGive) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> a(1003), b(1003);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal(random), b[i] = normal(random);
  const Difference whole = difference(a, b);
  Difference pieces;
  for (std::size_t i = 0; i < a.size(); ++i) pieces.add({&a[i], 1}, {&b[i], 1});
  EXPECT_EQ(whole.values, pieces.values);
  EXPECT_NEAR(whole.absolute, pieces.absolute, 1e-9);
  EXPECT_NEAR(whole.squared, pieces.squared, 1e-9);
  EXPECT_NEAR(whole.dot, pieces.dot, 1e-9);
  EXPECT_NEAR(whole.largest, pieces.largest, 1e-6);
}

TEST(DifferenceTest, IdenticalSignalsAreEndlesslyNear) {
  EXPECT_EQ(difference({1, 2}, {1, 2}).sqnr_db(), kEndless);
  EXPECT_EQ(difference({0, 0}, {0, 0}).sqnr_db(), kEndless);
  EXPECT_EQ(difference({0, 0}, {0, 0}).cosine(), 1);
  EXPECT_EQ(difference({}, {}).mean_abs(), 0);
}

TEST(DifferenceTest, NothingIsNearASilentReference) {
  const Difference sums = difference({0, 0}, {0, 1});
  EXPECT_EQ(sums.sqnr_db(), -kEndless);
  EXPECT_EQ(sums.cosine(), 0);
}

TEST(DifferenceTest, CountsWhatIsNotFiniteAndDoesNotSumIt) {
  for (const std::size_t place : {0U, 18U}) {
    for (const float broken : {kNan, kInfiniteValue, -kInfiniteValue}) {
      const Difference sums = difference(with(place, 1), with(place, broken));
      EXPECT_EQ(sums.reference_not_finite, 0U);
      EXPECT_EQ(sums.candidate_not_finite, 1U);
      EXPECT_EQ(sums.largest, kEndless);
      EXPECT_EQ(sums.absolute, 0);
      EXPECT_EQ(sums.reference, 18);
      EXPECT_EQ(sums.sqnr_db(), -kEndless);
      EXPECT_EQ(difference(with(place, broken), with(place, 1)).reference_not_finite, 1U);
    }
  }
}

TEST(DifferenceTest, TheSameInfinityOnBothSidesIsNoDifference) {
  for (const std::size_t place : {0U, 18U}) {
    for (const float same : {kNan, kInfiniteValue, -kInfiniteValue}) {
      const Difference sums = difference(with(place, same), with(place, same));
      EXPECT_EQ(sums.largest, 0);
      EXPECT_EQ(sums.reference_not_finite, 1U);
      EXPECT_EQ(sums.candidate_not_finite, 1U);
      EXPECT_EQ(sums.sqnr_db(), kEndless);
    }
    EXPECT_EQ(difference(with(place, kInfiniteValue), with(place, -kInfiniteValue)).largest, kEndless);
  }
}

TEST(DifferenceTest, FiniteValuesHaveAFiniteDifference) {
  const float most = std::numeric_limits<float>::max();
  for (const std::size_t place : {0U, 18U}) {
    const Difference sums = difference(with(place, most), with(place, -most));
    EXPECT_DOUBLE_EQ(sums.largest, 2. * most) << place;
    EXPECT_EQ(sums.candidate_not_finite, 0U);
  }
}

OutputComparison compare(const data::Dims& shape, const data::Tensor& reference,
                         const data::Tensor& candidate, std::optional<double> threshold = {}) {
  OutputMeter meter(described("y", reference.type, shape), threshold);
  meter.add(reference, candidate);
  return meter.result();
}

TEST(OutputMeterTest, AgreementOfScores) {
  const auto reference = tensor_of<float>({2, 3}, {1, 2, 3, 9, 5, 1}),
             candidate = tensor_of<float>({2, 3}, {1, 2, 4, 5, 9, 1});
  const OutputComparison result = compare({-1, 3}, reference, candidate);
  EXPECT_EQ(result.top1_agreement, 0.5);
  EXPECT_EQ(result.top5_agreement, std::nullopt);  // there are only three classes
}

TEST(OutputMeterTest, AnswersThatChangedAreCountedByWhatTheyWereAndAre) {
  OutputMeter meter(described("y", ElementType::kFloat, {-1, 3}), {});
  const auto one = tensor_of<float>({1, 3}, {9, 1, 0}), two = tensor_of<float>({1, 3}, {1, 9, 0}),
             three = tensor_of<float>({1, 3}, {0, 1, 9});
  for (int i = 0; i < 3; ++i) meter.add(one, three);
  meter.add(two, one);
  meter.add(two, two);
  const OutputComparison result = meter.result();
  ASSERT_EQ(result.changed_answers.size(), 2U);
  EXPECT_EQ(result.changed_answers[0].from, 0U);
  EXPECT_EQ(result.changed_answers[0].to, 2U);
  EXPECT_EQ(result.changed_answers[0].count, 3U);
  EXPECT_EQ(result.changed_answers[1].count, 1U);
  EXPECT_DOUBLE_EQ(*result.top1_agreement, 0.2);
}

TEST(OutputMeterTest, AgreementOfTheFiveBest) {
  const auto reference = tensor_of<float>({1, 7}, {7, 6, 5, 4, 3, 2, 1}),
             candidate = tensor_of<float>({1, 7}, {7, 6, 5, 0, 0, 9, 8});
  const OutputComparison result = compare({-1, 7}, reference, candidate);
  EXPECT_EQ(result.top1_agreement, 0);
  EXPECT_DOUBLE_EQ(*result.top5_agreement, 3. / 5);
}

TEST(OutputMeterTest, AgreementOfEveryStepOfASequence) {
  const auto reference = tensor_of<float>({1, 4, 2}, {1, 0, 1, 0, 1, 0, 1, 0}),
             candidate = tensor_of<float>({1, 4, 2}, {1, 0, 0, 1, 1, 0, 1, 0});
  EXPECT_EQ(compare({-1, -1, 2}, reference, candidate).top1_agreement, 0.75);
}

TEST(OutputMeterTest, AgreementOfEveryPixel) {
  const auto reference = tensor_of<float>({1, 2, 1, 2}, {1, 1, 0, 0}),
             candidate = tensor_of<float>({1, 2, 1, 2}, {1, 0, 0, 1});
  EXPECT_EQ(compare({-1, 2, -1, -1}, reference, candidate).top1_agreement, 0.5);
}

TEST(OutputMeterTest, IntegersAreLabelsThatAreTheSameOrNot) {
  OutputMeter meter(described("label", ElementType::kInt64, {-1}), 0.5);
  const auto reference = tensor_of<std::int64_t>({4}, {1, 2, 3, -7}),
             candidate = tensor_of<std::int64_t>({4}, {1, 2, 9000, -8});
  EXPECT_EQ(meter.add(reference, candidate), 2);
  const OutputComparison result = meter.result();
  EXPECT_TRUE(result.is_label);
  EXPECT_EQ(result.type, "int64");
  EXPECT_EQ(result.top1_agreement, 0.5);
  EXPECT_EQ(result.answers, 4U);
  EXPECT_EQ(result.changed, 2U);
  EXPECT_EQ(result.max_abs_diff, 0);
  EXPECT_EQ(result.mean_abs_diff, 0);
  EXPECT_EQ(result.mse, 0);
  EXPECT_EQ(result.flips, std::nullopt) << "thresholds apply to scores, not to labels";
  ASSERT_EQ(result.changed_answers.size(), 1U) << "only non-negative labels are classes";
  EXPECT_EQ(result.changed_answers[0].from, 3U);
  EXPECT_EQ(result.changed_answers[0].to, 9000U);
}

TEST(OutputMeterTest, SoundAndPicturesOfIntegersAreNumbers) {
  for (const ElementType type : {ElementType::kString, ElementType::kBool, ElementType::kInt32,
                                 ElementType::kInt64, ElementType::kUint8, ElementType::kInt8})
    EXPECT_TRUE(is_label(type, 3)) << name_of(type);
  for (const ElementType type : {ElementType::kFloat, ElementType::kFloat16, ElementType::kDouble,
                                 ElementType::kInt16, ElementType::kUint16})
    EXPECT_FALSE(is_label(type, 3)) << name_of(type);
  EXPECT_FALSE(is_label(ElementType::kUint8, 4));
  EXPECT_TRUE(is_label(ElementType::kInt64, 4));
  // The model may leave the rank open.
  OutputMeter meter(data::ValueDescription{"y", ElementType::kUint8, {}}, {});
  meter.add(tensor_of<std::uint8_t>({1, 1, 1, 2}, {10, 20}), tensor_of<std::uint8_t>({1, 1, 1, 2}, {10, 24}));
  EXPECT_FALSE(meter.result().is_label);
  EXPECT_EQ(meter.result().max_abs_diff, 4);
}

TEST(OutputMeterTest, TwoProbabilitiesThatAddUpToOneAreOneDecision) {
  const auto reference = tensor_of<float>({3, 2}, {0.6F, 0.4F, 0.3F, 0.7F, 0.9F, 0.1F}),
             candidate = tensor_of<float>({3, 2}, {0.4F, 0.6F, 0.2F, 0.8F, 0.9F, 0.1F});
  const OutputComparison result = compare({-1, 2}, reference, candidate, 0.5);
  EXPECT_EQ(result.flips, 1U);
  EXPECT_EQ(result.decisions, 3U);
  // Two independent scores are two decisions.
  const auto scores = tensor_of<float>({1, 2}, {0.6F, 0.6F}), others = tensor_of<float>({1, 2}, {0.4F, 0.4F});
  EXPECT_EQ(compare({-1, 2}, scores, others, 0.5).flips, 2U);
  EXPECT_EQ(compare({-1, 2}, scores, others, 0.5).decisions, 2U);
}

TEST(OutputMeterTest, OneRowThatDoesNotAddUpMakesAllOfThemIndependent) {
  OutputMeter meter(described("y", ElementType::kFloat, {-1, 2}), 0.5);
  const auto pair = tensor_of<float>({1, 2}, {0.3F, 0.7F}), two = tensor_of<float>({1, 2}, {0.9F, 0.8F});
  meter.add(pair, tensor_of<float>({1, 2}, {0.7F, 0.3F}));
  meter.add(two, two);
  EXPECT_EQ(meter.result().flips, 2U);
  EXPECT_EQ(meter.result().decisions, 4U);
}

TEST(OutputMeterTest, SilentSamplesHaveDifferencesAndNoSqnr) {
  OutputMeter meter(described("scores", ElementType::kFloat, {1, 2}), {});
  const auto quiet = tensor_of<float>({1, 2}, {0.01F, 0.02F}), other = tensor_of<float>({1, 2}, {0.03F, 0});
  meter.add(quiet, other, true);
  OutputComparison result = meter.result();
  EXPECT_EQ(result.silent_values, 2U);
  EXPECT_TRUE(std::isnan(result.sqnr_db));
  EXPECT_FLOAT_EQ(static_cast<float>(result.max_abs_diff), 0.02F);
  meter.add(tensor_of<float>({1, 2}, {1, 1}), tensor_of<float>({1, 2}, {1.1F, 1}));
  result = meter.result();
  EXPECT_EQ(result.values, 4U);
  EXPECT_EQ(result.silent_values, 2U);
  EXPECT_NEAR(result.sqnr_db, 10 * std::log10(2 / 0.01), 1e-3);
  // Equal values are identical, also in silent samples.
  OutputMeter same(described("scores", ElementType::kFloat, {1, 2}), {});
  same.add(quiet, quiet, true);
  EXPECT_EQ(same.result().sqnr_db, kEndless);
}

TEST(OutputMeterTest, CountsDecisionsThatChangeAtTheThreshold) {
  const auto reference = tensor_of<float>({1, 4}, {0.5, 0.4F, 0.9F, 0.1F}),
             candidate = tensor_of<float>({1, 4}, {0.4F, 0.5, 0.8F, 0.2F});
  const OutputComparison result = compare({-1, -1}, reference, candidate, 0.5);
  EXPECT_EQ(result.flips, 2U);
  EXPECT_EQ(result.decisions, 4U);
  EXPECT_EQ(compare({-1, -1}, reference, candidate).flips, std::nullopt);
}

TEST(OutputMeterTest, StringsAreEqualOrNot) {
  const OutputComparison result =
      compare({-1}, strings_of({4}, {"a", "b", "c", "d"}), strings_of({4}, {"a", "b", "c", "x"}));
  EXPECT_TRUE(result.is_label);
  EXPECT_EQ(result.max_abs_diff, 0);
  EXPECT_EQ(result.top1_agreement, 0.75);
  EXPECT_EQ(result.changed, 1U);
  EXPECT_NEAR(result.sqnr_db, 10 * std::log10(4), 1e-12);
  EXPECT_EQ(compare({-1}, strings_of({1}, {"a"}), strings_of({1}, {"a"})).sqnr_db, kEndless);
}

TEST(OutputMeterTest, AnotherShapeIsNotedAndInfinitelyFar) {
  OutputMeter meter(described("y", ElementType::kFloat, {-1, -1}), {});
  const auto wide = tensor_of<float>({1, 2}, {1, 2}), narrow = tensor_of<float>({1, 1}, {1});
  EXPECT_EQ(meter.add(wide, narrow), kEndless);
  EXPECT_EQ(meter.add(wide, wide), 0);
  EXPECT_EQ(meter.shape_differences(), 1U);
  EXPECT_THAT(meter.first_shape_difference(), HasSubstr("[1,2] against float32[1,1]"));
  EXPECT_EQ(meter.result().values, 2U);
}

TEST(OutputMeterTest, AddsUpSamples) {
  OutputMeter meter(described("y", ElementType::kDouble, {-1, 2}), {});
  EXPECT_EQ(meter.add(tensor_of<double>({1, 2}, {0, 1}), tensor_of<double>({1, 2}, {0, 3})), 2);
  EXPECT_EQ(meter.add(tensor_of<double>({1, 2}, {1, 0}), tensor_of<double>({1, 2}, {0, 1})), 1);
  const OutputComparison result = meter.result();
  EXPECT_EQ(result.name, "y");
  EXPECT_EQ(result.values, 4U);
  EXPECT_EQ(result.max_abs_diff, 2);
  EXPECT_EQ(result.mean_abs_diff, 1);
  EXPECT_EQ(result.mse, 1.5);
  EXPECT_EQ(result.top1_agreement, 0.5);
}

TEST(OutputMeterTest, LargeIntegersAndDoublesAreComparedWithoutRounding) {
  const auto difference_of = [](ElementType type, auto a, auto b) {
    const auto tensor = [&](auto value) {
      return data::Tensor{type, {}, std::string(reinterpret_cast<const char*>(&value), sizeof value)};
    };
    Difference difference;
    difference.add(tensor(a), tensor(b), "y");
    return difference;
  };
  const std::int64_t large = std::int64_t{1} << 60;
  EXPECT_EQ(difference_of(ElementType::kInt64, large, large + 1).largest, 1);
  EXPECT_EQ(difference_of(ElementType::kInt64, INT64_MIN, INT64_MAX).largest, 0x1p64);
  EXPECT_EQ(difference_of(ElementType::kUint64, UINT64_MAX, UINT64_MAX - 3).largest, 3);
  EXPECT_EQ(difference_of(ElementType::kDouble, 1.0, 1.0 + 1e-12).squared > 0, true);
  EXPECT_EQ(difference_of(ElementType::kDouble, 1e300, 1e300).candidate_not_finite, 0U);
}

TEST(OutputMeterTest, NanInOtherPlacesIsNew) {
  Difference difference;
  const std::vector<float> a = {std::nanf(""), 1, 2}, b = {0, 1, std::nanf("")};
  difference.add(a, b);
  EXPECT_EQ(difference.reference_not_finite, 1U);
  EXPECT_EQ(difference.candidate_not_finite, 1U);
  EXPECT_EQ(difference.newly_not_finite, 1U);
  EXPECT_TRUE(std::isinf(difference.mean_abs()));
}

}  // namespace
}  // namespace ounce::evaluate
