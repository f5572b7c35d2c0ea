#include "evaluate/metrics/metric_info.h"

#include <gmock/gmock.h>

#include <set>

#include "support/error_of.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::test::described;
using data::test::tensor_of;
using ounce::test::error_of;
using testing::HasSubstr;

// The description of outputs that suit a metric, and their values for one sample.
struct Model {
  std::vector<data::ValueDescription> outputs;
  std::vector<Tensor> given;
};

Model model_of(Task task) {
  constexpr ElementType kFloat = ElementType::kFloat;
  if (task == Task::kDetect)
    return {{described("scores", kFloat, {1, -1, 2}), described("boxes", kFloat, {1, -1, 4})},
            {tensor_of<float>({1, 1, 2}, {0, 0.9F}), tensor_of<float>({1, 1, 4}, {0, 0, 10, 10})}};
  if (task == Task::kSegment)
    return {{described("y", kFloat, {-1, 2, 1, 2})}, {tensor_of<float>({1, 2, 1, 2}, {1, 0, 0, 1})}};
  if (task == Task::kTag || task == Task::kCtc)
    return {{described("y", kFloat, {-1, 2, 3})}, {tensor_of<float>({1, 2, 3}, {0, 1, 0, 0, 0, 1})}};
  return {{described("y", kFloat, {-1, 3})}, {tensor_of<float>({1, 3}, {3, 2, 1})}};
}

TEST(MetricInfoTest, EachRowSaysWhatItsMeterMeasures) {
  std::set<std::string_view> names;
  for (const MetricInfo& info : kMetrics) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " occurs twice";
    EXPECT_NE(info.help, "") << info.name;
    const Model model = model_of(info.task);
    const std::unique_ptr<Meter> meter = info.make({model.outputs});
    const std::vector<data::TensorView> views(model.given.begin(), model.given.end());
    for (int i = 0; i < 4; ++i) meter->add({views, views, nullptr, {}, "a"});
    const std::vector<MetricResult> results = meter->results();
    ASSERT_FALSE(results.empty()) << info.name;
    EXPECT_EQ(results.front().unit, info.unit) << info.name;
    EXPECT_EQ(results.front().higher_is_better, info.higher_is_better) << info.name;
    EXPECT_EQ(results.front().drop, 0) << info.name << ": a model compared with itself has no drop";
    EXPECT_EQ(find_metric(info.task, info.name), &info);
    EXPECT_EQ(find_metric(Task::kAuto, info.name), &info);
  }
}

TEST(MetricInfoTest, EveryTaskHasAMetric) {
  for (const Named<Task>& task : NamesOf<Task>::kAll) {
    const MetricInfo* info = find_metric(task.value, kAutoMetric);
    EXPECT_EQ(info == nullptr ? Task::kAuto : info->task, task.value) << task.name;
  }
}

TEST(MetricInfoTest, TheFirstRowThatSuitsIsTheMetricOfTheLabels) {
  const auto scores = described("y", ElementType::kFloat, {-1, 3}),
             one = described("y", ElementType::kFloat, {-1, 1});
  EXPECT_EQ(metric_for(tensor_of<std::int64_t>({}, {2}), scores).name, "accuracy");
  EXPECT_EQ(metric_for(tensor_of<std::uint8_t>({}, {2}), one).name, "accuracy");
  EXPECT_EQ(metric_for(tensor_of<float>({}, {2}), scores).name, "accuracy")
      << "a class number written as 2.0";
  EXPECT_EQ(metric_for(tensor_of<float>({}, {2.5F}), scores).name, "mae");
  EXPECT_EQ(metric_for(tensor_of<float>({}, {3}), scores).name, "mae")
      << "3 is not a class: there are three classes";
  EXPECT_EQ(metric_for(tensor_of<double>({}, {2}), one).name, "mae");
  EXPECT_EQ(metric_for(tensor_of<float>({0, 5}, {}), scores).name, "map");
  EXPECT_EQ(metric_for(tensor_of<float>({2, 4}, {0, 0, 1, 1, 2, 2, 3, 3}), scores).name, "map");
}

TEST(MetricInfoTest, AMetricOfAnotherTaskIsRefused) {
  EXPECT_THAT(error_of([] { find_metric(Task::kDetect, "f1"); }).what(),
              HasSubstr("`metric=f1` is a metric of `task=classify`, not of `task=detect`"));
  EXPECT_THAT(error_of([] { find_metric(Task::kAuto, "bleu"); }).what(), HasSubstr("unknown metric 'bleu'"));
}

}  // namespace
}  // namespace ounce::evaluate
