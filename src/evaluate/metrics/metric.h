// Qualities on labelled data: reference and candidate on the same samples, and the drop between them.
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <span>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

// One sample's output, without the others of its batch.
struct LabelledOutput {
  std::span<const float> reference, candidate;
  data::Dims dims;  // with a batch axis of 1
  const data::Tensor* label = nullptr;
  std::string where;  // the sample's name, for errors
};

class MetricMeter {
 public:
  virtual ~MetricMeter() = default;
  virtual void add(const LabelledOutput& output) = 0;
  virtual std::vector<MetricResult> results() const = 0;  // the one that gates first
};

// What kAuto means for labels of this type: classes are integers.
Metric metric_for(ElementType label);

// Not for kMap: see detection.h. Throws Error{kUsage} when a metric needs classes and the output has none.
std::unique_ptr<MetricMeter> make_meter(Metric metric, const data::ValueDescription& output);

}  // namespace ounce::evaluate
