#include "evaluate/metrics/metric_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "data/tensor.h"

namespace ounce {

std::vector<MetricDescription> known_metrics() {
  std::vector<MetricDescription> all;
  for (const evaluate::MetricInfo& info : evaluate::kMetrics)
    all.push_back({info.name, info.help, info.unit});
  return all;
}

}  // namespace ounce

namespace ounce::evaluate {

bool are_boxes(const data::Tensor& label, const data::ValueDescription&) {
  return label.dims.size() == 2 && (label.dims[1] == 4 || label.dims[1] == 5) &&
         is_float_weight_type(label.type);
}

// True for integers, and for a class number written as a float (1.0): one whole number, while the output has
// several values.
bool are_classes(const data::Tensor& label, const data::ValueDescription& output) {
  if (!is_float_weight_type(label.type)) return true;
  const std::vector<double> numbers = data::to_doubles(label, "the labels");
  if (numbers.size() != 1 || output.shape.size() < 2 || output.shape.back().value < 2) return false;
  return numbers[0] == std::floor(numbers[0]) && numbers[0] >= 0 &&
         numbers[0] < static_cast<double>(output.shape.back().value);
}

const MetricInfo* find_metric(Task task, std::string_view name) {
  const bool is_auto = name == kAutoMetric;
  if (is_auto && task == Task::kAuto) return nullptr;
  const auto* const found =
      std::find_if(std::begin(kMetrics), std::end(kMetrics),
                   [&](const MetricInfo& info) { return is_auto ? info.task == task : info.name == name; });
  if (found == std::end(kMetrics)) {
    std::vector<std::string_view> names;
    for (const MetricInfo& info : kMetrics) names.push_back(info.name);
    throw Error(ErrorCode::kUsage,
                fmt::format("unknown metric '{}'; metrics: {}", name, fmt::join(names, ", ")));
  }
  if (task != Task::kAuto && found->task != task)
    throw Error(ErrorCode::kUsage, fmt::format("`metric={}` is a metric of `task={}`, not of `task={}`", name,
                                               name_of(found->task), name_of(task)));
  return found;
}

const MetricInfo& metric_for(const data::Tensor& label, const data::ValueDescription& output) {
  return *std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const MetricInfo& info) {
    return info.suits != nullptr && info.suits(label, output);
  });
}

}  // namespace ounce::evaluate
