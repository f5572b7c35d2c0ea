#include "evaluate/metrics/task.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "data/class_rows.h"
#include "data/convert.h"
#include "evaluate/metrics/metric.h"

namespace ounce::evaluate {
namespace {

// The metrics that know labels, with the reference's answers as labels where there are none.
class LabelledTask : public TaskMeter {
 public:
  LabelledTask(const TaskSettings& settings, Metric metric)
      : output_(settings.output),
        is_of_classes_(settings.task == Task::kClassify),
        axis_(class_axis(settings.outputs[settings.output])),
        meter_(make_meter(metric, settings.outputs[settings.output])) {}

  void add(const TaskSample& sample) override {
    const data::TensorView& ours = sample.reference[output_];
    const auto reference = data::floats_of(ours, reference_, sample.where),
               candidate = data::floats_of(sample.candidate[output_], candidate_, sample.where);
    const data::Tensor own = sample.label == nullptr ? answers_of(ours, reference) : data::Tensor();
    meter_->add(
        {reference, candidate, ours.dims, sample.label == nullptr ? &own : sample.label, sample.where});
  }

  std::vector<MetricResult> results() const override { return meter_->results(); }

 private:
  data::Tensor answers_of(const data::TensorView& output, std::span<const float> values) const {
    if (!is_of_classes_) return data::copy_of(output);
    const data::ClassRows rows(values, output.dims, *axis_);
    data::Tensor answers{ElementType::kInt64, {static_cast<std::int64_t>(rows.rows())}, {}};
    answers.bytes.resize(rows.rows() * sizeof(std::int64_t));
    for (std::size_t row = 0; row < rows.rows(); ++row)
      data::values_of<std::int64_t>(answers)[row] = static_cast<std::int64_t>(rows.best(row));
    return answers;
  }

  std::size_t output_;
  bool is_of_classes_;
  std::optional<std::size_t> axis_;
  std::unique_ptr<MetricMeter> meter_;
  std::vector<float> reference_, candidate_;
};

}  // namespace

std::unique_ptr<TaskMeter> make_task_meter(const TaskSettings& settings) {
  switch (settings.task) {
    case Task::kDetect: return make_detection_task(settings);
    case Task::kEmbed: return make_embedding_task(settings);
    case Task::kCtc: return make_text_line_task(settings);
    case Task::kSegment: return make_segmentation_task(settings);
    case Task::kTag: return make_tag_task(settings);
    case Task::kAudio: return make_sound_task(settings);
    case Task::kRegress: return std::make_unique<LabelledTask>(settings, Metric::kMae);
    case Task::kAuto:
    case Task::kClassify: break;
  }
  return std::make_unique<LabelledTask>(
      settings, settings.metric == Metric::kAuto ? Metric::kAccuracy : settings.metric);
}

}  // namespace ounce::evaluate
