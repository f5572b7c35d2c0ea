#include "evaluate/compare/comparison.h"

#include <gmock/gmock.h>

#include "support/error_of.h"
#include "support/tiny_models.h"

namespace ounce::evaluate {
namespace {

using data::test::tensor_of;
using ounce::test::error_of;
using ounce::test::kFloat;
using ounce::test::ModelBuilder;
using test::linear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ModelBuilder kIdentity = linear({1, 0, 0, 1});

// A sample of two numbers, and its class.
struct Row {
  std::vector<float> x;
  std::int64_t label;
};

data::Batch batch_of(const std::vector<Row>& rows, const std::string& name, bool has_labels = true) {
  data::Batch batch;
  std::vector<float> values;
  for (const Row& row : rows) {
    values.insert(values.end(), row.x.begin(), row.x.end());
    batch.names.push_back(name + std::to_string(batch.names.size()));
    if (has_labels) batch.labels.push_back(tensor_of<std::int64_t>({}, {row.label}));
  }
  batch.inputs = {tensor_of<float>({static_cast<std::int64_t>(rows.size()), 2}, values)};
  return batch;
}

struct ComparisonTest : testing::Test {
  VerifyResult compare(const ModelBuilder& reference, const ModelBuilder& candidate,
                       std::vector<data::Batch> batches) {
    StatefulExecutor ours = models.step("a", reference, options.data.carry),
                     theirs = models.step("b", candidate, options.data.carry);
    Comparison comparison(ours, theirs, options);
    test::ListedFeed feed(std::move(batches));
    comparison.run(feed, options.progress);
    ranges = comparison.input_ranges();
    dims = comparison.input_dims();
    largest = comparison.largest_output(0);
    VerifyResult result;
    comparison.fill(result);
    return result;
  }
  test::TinyModels models;
  VerifyOptions options;
  std::map<std::string, Range> ranges;
  std::vector<data::Dims> dims;
  double largest = 0;
};

TEST_F(ComparisonTest, IdenticalModelsAreIdentical) {
  const VerifyResult result =
      compare(kIdentity, kIdentity, {batch_of({{{1, 2}, 1}}, "a"), batch_of({{{4, 3}, 1}}, "b")});
  EXPECT_EQ(result.samples, 2U);
  EXPECT_EQ(result.max_abs_diff, 0);
  EXPECT_EQ(result.mean_abs_diff, 0);
  EXPECT_THAT(result.worst, IsEmpty());
  EXPECT_THAT(result.failures, IsEmpty());
  ASSERT_EQ(result.outputs.size(), 1U);
  EXPECT_EQ(result.outputs[0].top1_agreement, 1);
  ASSERT_EQ(result.metrics.size(), 1U);
  EXPECT_EQ(result.metrics[0].reference, 0.5);
  EXPECT_EQ(result.metrics[0].drop, 0);
}

TEST_F(ComparisonTest, ChangedWeightsShow) {
  const VerifyResult result =
      compare(kIdentity, linear({1, 0, 0, 0.5}), {batch_of({{{3, 2}, 0}, {{3, 4}, 1}, {{0, 0}, 0}}, "s")});
  EXPECT_EQ(result.samples, 3U);
  EXPECT_EQ(result.max_abs_diff, 2);
  EXPECT_EQ(result.mean_abs_diff, 0.5);
  EXPECT_EQ(result.outputs[0].values, 6U);
  EXPECT_NEAR(*result.outputs[0].top1_agreement, 2. / 3, 1e-12);
  EXPECT_EQ(result.metrics[0].reference, 1);
  EXPECT_NEAR(result.metrics[0].candidate, 2. / 3, 1e-12);
}

TEST_F(ComparisonTest, TheWorstSamplesAreNamedLargestFirst) {
  options.worst = 2;
  const VerifyResult result =
      compare(kIdentity, linear({1, 0, 0, 0}),
              {batch_of({{{0, 1}, 0}, {{0, 3}, 0}}, "a"), batch_of({{{0, 2}, 0}, {{0, 0}, 0}}, "b")});
  ASSERT_EQ(result.worst.size(), 2U);
  EXPECT_EQ(result.worst[0].name, "a1");
  EXPECT_EQ(result.worst[0].output, "y");
  EXPECT_EQ(result.worst[0].max_abs_diff, 3);
  EXPECT_EQ(result.worst[1].name, "b0");
}

TEST_F(ComparisonTest, SamplesWithAChangedPredictionAreNamedLargestDifferenceFirst) {
  const auto rows = [](float first, float last) {
    return std::vector<Row>{{{first, 0}, 0}, {{1, 4}, 1}, {{0, last}, 1}, {{5, 1}, 0}};
  };
  VerifyResult result = compare(kIdentity, linear({1, 0, 0, -1}), {batch_of(rows(9, 8), "a")});
  ASSERT_EQ(result.changed.size(), 2U);  // a0 and a3 stay class 0
  EXPECT_EQ(result.changed[0].name, "a2");
  EXPECT_EQ(result.changed[0].max_abs_diff, 16);
  EXPECT_EQ(result.changed[1].name, "a1");
  EXPECT_EQ(result.changed[0].answers.size(), 0U);  // no pictures were asked for
  options.pictures = true;
  result = compare(kIdentity, linear({1, 0, 0, -1}), std::vector<data::Batch>(5, batch_of(rows(9, 8), "a")));
  EXPECT_EQ(result.changed.size(), 10U);
  EXPECT_EQ(result.changed[0].answers.size(), 2U);
  EXPECT_FALSE(result.changed[0].reference_output);  // scores are no picture
  result = compare(kIdentity, linear({1, 0, 0, -1}), std::vector<data::Batch>(9, batch_of(rows(9, 8), "a")));
  EXPECT_EQ(result.changed.size(), VerifyResult::kMostChanged);
  options.worst = 0;
  EXPECT_THAT(compare(kIdentity, linear({1, 0, 0, -1}), {batch_of(rows(9, 8), "a")}).changed, IsEmpty());
}

TEST_F(ComparisonTest, NotesWhatInputsAndOutputsLookLike) {
  compare(kIdentity, kIdentity, {batch_of({{{-1, 2}, 0}}, "a"), batch_of({{{-3, 1}, 0}}, "b")});
  EXPECT_EQ(ranges.at("x").low, -3);
  EXPECT_EQ(ranges.at("x").high, 2);
  EXPECT_THAT(dims, ElementsAre(ElementsAre(1, 2)));
  EXPECT_EQ(largest, 3);
}

TEST_F(ComparisonTest, LabelsSpeakOfTheOutputThatIsNamed) {
  ModelBuilder model = linear({1, 0, 0, 1});
  model.add(12, test::free_value("z", kFloat, {"N", "2"})).node("Neg", {"x"}, {"z"});
  const std::vector<data::Batch> batches = {batch_of({{{1, 2}, 1}}, "a")};
  EXPECT_EQ(compare(model, model, batches).metrics[0].reference, 1);
  options.label_output = "z";
  EXPECT_EQ(compare(model, model, batches).metrics[0].reference, 0);
  options.label_output = "q";
  const Error error = error_of([&] { compare(model, model, batches); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("no output 'q'"));
}

TEST_F(ComparisonTest, RealLabelsAreErrorsOfRealValues) {
  data::Batch batch = batch_of({{{1, 2}, 0}}, "a");
  batch.labels = {tensor_of<float>({2}, {1, 4})};
  const VerifyResult result = compare(kIdentity, linear({1, 0, 0, 2}), {batch});
  EXPECT_EQ(result.metrics[0].name, "mean_absolute_error");
  EXPECT_EQ(result.metrics[0].reference, 1);
  EXPECT_EQ(result.metrics[0].candidate, 0);
}

TEST_F(ComparisonTest, BoxesAreDetections) {
  ModelBuilder model(13, 7);
  model.add(11, test::free_value("x", kFloat, {"N", "2"}));
  model.output("boxes", kFloat, {1, 1, 4}).output("scores", kFloat, {1, 1, 1});
  model.initializer("b", {1, 1, 4}, {0, 0, 10, 10}).initializer("s", {1, 1, 1}, {0.9F});
  model.node("Identity", {"b"}, {"boxes"}).node("Identity", {"s"}, {"scores"});
  data::Batch batch = batch_of({{{1, 2}, 0}}, "a");
  batch.labels = {tensor_of<float>({1, 4}, {0, 0, 10, 9})};
  const VerifyResult result = compare(model, model, {batch});
  ASSERT_EQ(result.metrics.size(), 2U);
  EXPECT_EQ(result.metrics[0].name, "map50");
  EXPECT_EQ(result.metrics[0].reference, 1);
  EXPECT_EQ(result.metrics[1].name, "map50_95");
  EXPECT_EQ(result.metrics[1].reference, 0.9);  // they overlap by 0.9
}

// A detector that returns one box with this score.
ModelBuilder detector(float score) {
  ModelBuilder model(13, 7);
  model.add(11, test::free_value("x", kFloat, {"N", "2"}));
  model.output("boxes", kFloat, {1, 1, 4}).output("scores", kFloat, {1, 1, 1});
  model.initializer("b", {1, 1, 4}, {0, 0, 10, 10}).initializer("s", {1, 1, 1}, {score});
  model.node("Identity", {"b"}, {"boxes"}).node("Identity", {"s"}, {"scores"});
  return model;
}

// Scores below the threshold are not detections, so their changes do not count.
TEST_F(ComparisonTest, PicturesInWhichNothingIsFoundHaveNoSqnr) {
  options.task = Task::kDetect;
  const data::Batch batch = batch_of({{{1, 2}, 0}}, "a", false);
  VerifyResult result = compare(detector(0.04F), detector(0.02F), {batch});
  ASSERT_EQ(result.outputs[1].name, "scores");
  EXPECT_TRUE(std::isnan(result.outputs[1].sqnr_db));
  EXPECT_EQ(result.outputs[1].silent_values, 1U);
  EXPECT_TRUE(std::isnan(result.worst_sqnr_db) || std::isinf(result.worst_sqnr_db));
  EXPECT_TRUE(std::isnan(result.metrics[0].drop));
  EXPECT_NE(result.metrics[0].why_not, "");
  result = compare(detector(0.04F), detector(0.06F), {batch});
  EXPECT_NEAR(result.outputs[1].sqnr_db, 6.02, 0.01) << "the reference or the candidate detects something";
  EXPECT_EQ(result.outputs[1].silent_values, 0U);
  options.threshold = 0.01;
  result = compare(detector(0.04F), detector(0.02F), {batch});
  EXPECT_EQ(result.outputs[1].silent_values, 0U);
}

TEST_F(ComparisonTest, BoxesThatAreLabelsMakeADetectorToo) {
  data::Batch batch = batch_of({{{1, 2}, 0}}, "a");
  batch.labels = {tensor_of<float>({0, 5}, {})};
  const VerifyResult result = compare(detector(0.04F), detector(0.02F), {batch});
  EXPECT_EQ(result.outputs[1].silent_values, 1U);
  EXPECT_EQ(result.metrics[0].name, "map50");
}

// A classifier with the outputs of a scikit-learn export: a label, and the probabilities of two classes.
ModelBuilder classifier(const std::vector<float>& matrix) {
  ModelBuilder model(13, 7);
  model.add(11, test::free_value("x", kFloat, {"N", "2"}));
  model.add(12, test::free_value("label", ounce::test::kInt64, {"N"}));
  model.add(12, test::free_value("shares", kFloat, {"N", "2"}));
  model.initializer("w", {2, 2}, matrix).node("MatMul", {"x", "w"}, {"logits"});
  model.node("Softmax", {"logits"}, {"shares"});
  model.node("ArgMax", {"shares"}, {"label"},
             {ounce::test::int_attribute("axis", 1), ounce::test::int_attribute("keepdims", 0)});
  return model;
}

TEST_F(ComparisonTest, ALabelThatChangesIsNoDifference) {
  options.threshold = 0.5;
  const VerifyResult result = compare(classifier({1, 0, 0, 1}), classifier({1, 0, 0, 0.9F}),
                                      {batch_of({{{2, 2.1F}, 0}, {{2, -2}, 0}, {{-3, 2}, 0}}, "a", false)});
  const OutputComparison &label = result.outputs[0], &shares = result.outputs[1];
  EXPECT_TRUE(label.is_label);
  EXPECT_EQ(label.changed, 1U);
  EXPECT_EQ(label.answers, 3U);
  EXPECT_LT(result.max_abs_diff, 0.1);
  EXPECT_EQ(result.max_abs_diff, shares.max_abs_diff);
  EXPECT_EQ(result.mean_abs_diff, shares.mean_abs_diff);
  EXPECT_EQ(result.worst_sqnr_db, shares.sqnr_db);
  ASSERT_FALSE(result.worst.empty());
  for (const SampleDifference& worst : result.worst) EXPECT_EQ(worst.output, "shares");
  EXPECT_EQ(shares.flips, 1U) << "the two columns are one decision";
  EXPECT_EQ(shares.decisions, 3U);
  EXPECT_FALSE(label.flips);
}

TEST_F(ComparisonTest, TheOutputsThatAreAskedForAreJudged) {
  options.outputs = {"label"};
  VerifyResult result = compare(classifier({1, 0, 0, 1}), classifier({0, 1, 1, 0}),
                                {batch_of({{{2, 1}, 0}, {{1, 2}, 0}}, "a", false)});
  EXPECT_TRUE(result.outputs[0].is_judged);
  EXPECT_FALSE(result.outputs[1].is_judged);
  EXPECT_GT(result.outputs[1].max_abs_diff, 0.1) << "it is compared anyway";
  EXPECT_TRUE(std::isnan(result.max_abs_diff)) << "labels have no differences";
  ASSERT_EQ(result.worst.size(), 2U);
  EXPECT_EQ(result.worst[0].output, "label");
  EXPECT_EQ(result.worst[0].changed, 1U);
  EXPECT_EQ(result.worst[0].max_abs_diff, 0);
  options.outputs = {"shares"};
  result = compare(classifier({1, 0, 0, 1}), classifier({0, 1, 1, 0}), {batch_of({{{2, 1}, 0}}, "a", false)});
  EXPECT_FALSE(result.outputs[0].is_judged);
  EXPECT_EQ(result.max_abs_diff, result.outputs[1].max_abs_diff);
}

// Two channels of 32 values each. The second is much quieter, and its large relative error is hidden by the
// first.
TEST_F(ComparisonTest, TheWorstSliceIsTheFigureOfAnOutput) {
  const auto scaled = [](float quiet) {
    ModelBuilder model(13, 7);
    model.input("x", kFloat, {1, 2, 32}).output("y", kFloat, {1, 2, 32});
    model.initializer("factors", {2, 1}, {1, quiet}).node("Mul", {"x", "factors"}, {"y"});
    return model;
  };
  std::vector<float> values(64, 100);
  for (std::size_t i = 32; i < 64; ++i) values[i] = i % 2 == 0 ? 1 : -1;
  data::Batch batch;
  batch.inputs = {tensor_of<float>({1, 2, 32}, values)};
  batch.names = {"a"};
  const VerifyResult result = compare(scaled(1), scaled(1.5), {batch});
  ASSERT_EQ(result.outputs[0].slices.size(), 2U);
  EXPECT_EQ(result.outputs[0].slices[0].name, "y[:, 1, :]");
  EXPECT_NEAR(result.worst_sqnr_db, 6.02, 0.01);
  EXPECT_GT(result.outputs[0].sqnr_db, 40);
}

TEST_F(ComparisonTest, ATaskNeedsNoLabels) {
  options.task = Task::kClassify;
  const VerifyResult result =
      compare(kIdentity, linear({1, 0, 0, 0}),
              {batch_of({{{1, 2}, 1}}, "a", false), batch_of({{{4, 3}, 1}}, "b", false)});
  ASSERT_EQ(result.metrics.size(), 1U);
  EXPECT_EQ(result.metrics[0].reference, 1);
  EXPECT_EQ(result.metrics[0].candidate, 0.5);
}

TEST_F(ComparisonTest, WhatTheUsersCommandSaysComesFirst) {
  options.metric_command.command = "echo 0.75; true";
  const VerifyResult result = compare(kIdentity, kIdentity, {batch_of({{{1, 2}, 1}}, "a")});
  ASSERT_EQ(result.metrics.size(), 2U);
  EXPECT_EQ(result.metrics[0].name, "score");
  EXPECT_EQ(result.metrics[0].candidate, 0.75);
  EXPECT_EQ(result.metrics[1].name, "top1_accuracy");
}

TEST_F(ComparisonTest, AnotherShapeIsAFailure) {
  ModelBuilder cut(13, 7);
  cut.add(11, test::free_value("x", kFloat, {"N", "2"})).add(12, test::free_value("y", kFloat, {"A", "B"}));
  ModelBuilder whole = cut;
  cut.node("Transpose", {"x"}, {"y"});
  whole.node("Identity", {"x"}, {"y"});
  const VerifyResult result = compare(whole, cut, {batch_of({{{1, 2}, 0}}, "a", false)});
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_THAT(result.failures[0], HasSubstr("output 'y' has another shape than the reference in 1 samples"));
}

// The candidate returns one row for the whole batch, which has the shape of one sample.
TEST_F(ComparisonTest, ABatchThatCollapsesIsAFailure) {
  ModelBuilder cut(13, 7);
  cut.add(11, test::free_value("x", kFloat, {"N", "2"})).add(12, test::free_value("y", kFloat, {"M", "2"}));
  const std::string axes = ounce::test::field(1, std::string("axes")) +
                           ounce::test::field(8, std::int64_t{0}) + ounce::test::field(20, std::int64_t{7});
  cut.node("ReduceMean", {"x"}, {"y"}, {axes});
  const VerifyResult result = compare(kIdentity, cut, {batch_of({{{1, 2}, 1}, {{1, 2}, 1}}, "a")});
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_THAT(result.failures[0], HasSubstr("float32[2,2] against float32[1,2]"));
}

TEST_F(ComparisonTest, StatesAreShownAndNotJudged) {
  const auto with_state = [](float leak) {
    ModelBuilder model(13, 7);
    model.input("h", kFloat, {1}).input("x", kFloat, {1}).output("y", kFloat, {1}).output("n", kFloat, {1});
    model.initializer("leak", {1}, {leak}).node("Identity", {"x"}, {"y"}).node("Add", {"h", "leak"}, {"n"});
    return model;
  };
  options.data.carry = {{"h", "n"}};
  options.threshold = 0.5;
  data::Batch batch;
  batch.inputs = {tensor_of<float>({1}, {0}), tensor_of<float>({1}, {1})};
  batch.names = {"a"};
  const VerifyResult result = compare(with_state(1), with_state(2), {batch});
  ASSERT_EQ(result.outputs.size(), 2U);
  EXPECT_FALSE(result.outputs[0].is_state);
  EXPECT_EQ(result.outputs[0].flips, 0U);
  EXPECT_TRUE(result.outputs[1].is_state);
  EXPECT_EQ(result.outputs[1].max_abs_diff, 1);
  EXPECT_EQ(result.outputs[1].flips, std::nullopt);
  EXPECT_EQ(result.max_abs_diff, 0);
  EXPECT_THAT(result.worst, IsEmpty());
}

TEST_F(ComparisonTest, TellsHowFarItIs) {
  Progress progress;
  options.progress = &progress;
  compare(kIdentity, kIdentity, {batch_of({{{1, 2}, 1}}, "a"), batch_of({{{1, 2}, 1}}, "b")});
  EXPECT_EQ(progress.done, 2U);
  EXPECT_EQ(progress.total, 2U);
}

TEST_F(ComparisonTest, ModelsThatAreNotTwoFormsOfOneAreRefused) {
  const auto reference = models.load("a", kIdentity);
  const auto refusal = [&](const ModelBuilder& other) {
    const auto candidate = models.load("b", other);
    const Error error = error_of([&] { require_same_interface(*reference, *candidate, "b.onnx"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_EQ(error.where(), "b.onnx");
    return std::string(error.what());
  };
  ModelBuilder more = linear({1, 0, 0, 1}), renamed(13, 7);
  more.output("z", kFloat, {1, 2}).node("Neg", {"x"}, {"z"});
  renamed.input("q", kFloat, {1, 2}).output("y", kFloat, {1, 2}).node("Neg", {"q"}, {"y"});
  EXPECT_THAT(refusal(more), HasSubstr("gives z float32[1,2], y float32[N,2]"));
  EXPECT_THAT(refusal(renamed), HasSubstr("takes q"));
  require_same_interface(*reference, *models.load("c", linear({2, 0, 0, 2})), "c.onnx");
}

}  // namespace
}  // namespace ounce::evaluate
