// The table of metrics, and the interface of the meters that compute them.
//
//   const MetricInfo* info = find_metric(options.task, options.metric);  // null: the first label decides
//   const std::unique_ptr<Meter> meter = info->make({outputs, output, threshold, tags});
//   meter->add({reference, candidate, &label, mask, "val.npz[0]"});
//   result.metrics = meter->results();
//
// A meter gets every sample of the reference and of the candidate. If a sample has no label, the reference's
// output is the truth. To add a metric, write its class in its own file and add a row here; the help of the
// command line and of Python and `--metric auto` use the rows.
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

// One sample of a batch.
struct Sample {
  std::span<const data::TensorView> reference, candidate;  // every output
  const data::Tensor* label = nullptr;
  std::vector<bool> mask = {};                   // positions to judge; empty: all
  std::string where;                             // the sample's name, for errors
  double picture_width = 0, picture_height = 0;  // of the model's input image; 0: no image input
};

class Meter {
 public:
  virtual ~Meter() = default;
  virtual void add(const Sample& sample) = 0;
  virtual std::vector<MetricResult> results() const = 0;  // the first one is judged by `max_drop`
  // True if neither model detected anything in the last sample. Then all scores are below the threshold, and
  // their relative error is meaningless.
  virtual bool was_silent() const { return false; }
};

struct MeterSettings {
  std::vector<data::ValueDescription> outputs;
  std::size_t output = 0;  // the output to judge; detection finds its outputs itself
  std::optional<double> threshold = {};
  std::vector<std::string> tags = {};
};

// Create meters. Throw Error{kUsage} if the output does not suit the metric.
std::unique_ptr<Meter> make_accuracy(const MeterSettings& settings);
std::unique_ptr<Meter> make_nll(const MeterSettings& settings);
std::unique_ptr<Meter> make_brier_score(const MeterSettings& settings);
std::unique_ptr<Meter> make_calibration_error(const MeterSettings& settings);
std::unique_ptr<Meter> make_f1(const MeterSettings& settings);
std::unique_ptr<Meter> make_mean_error(const MeterSettings& settings);
std::unique_ptr<Meter> make_detection(const MeterSettings& settings);
std::unique_ptr<Meter> make_neighbors(const MeterSettings& settings);
std::unique_ptr<Meter> make_text_lines(const MeterSettings& settings);
std::unique_ptr<Meter> make_segmentation(const MeterSettings& settings);
std::unique_ptr<Meter> make_tags(const MeterSettings& settings);
std::unique_ptr<Meter> make_sound(const MeterSettings& settings);

struct MetricInfo {
  std::string_view name, help;
  Task task;
  // The unit and direction of the first result, which is judged.
  MetricUnit unit = MetricUnit::kShare;
  bool higher_is_better = true;
  // Returns true if this is the default metric for such labels. Null: never.
  bool (*suits)(const data::Tensor& label, const data::ValueDescription& output) = nullptr;
  std::unique_ptr<Meter> (*make)(const MeterSettings& settings);
};

bool are_boxes(const data::Tensor& label, const data::ValueDescription& output);
bool are_classes(const data::Tensor& label, const data::ValueDescription& output);
constexpr bool are_any(const data::Tensor&, const data::ValueDescription&) { return true; }

// The default metric of labels is the first row that suits them. The default metric of a task is its first
// row.
inline constexpr MetricInfo kMetrics[] = {
    {.name = "map",
     .help = "mean average precision of boxes at IoU 0.5",
     .task = Task::kDetect,
     .suits = are_boxes,
     .make = make_detection},
    {.name = "accuracy",
     .help = "top-1 and top-5 accuracy",
     .task = Task::kClassify,
     .suits = are_classes,
     .make = make_accuracy},
    {.name = "nll",
     .help = "negative log-likelihood, perplexity",
     .task = Task::kClassify,
     .unit = MetricUnit::kRelative,
     .higher_is_better = false,
     .make = make_nll},
    {.name = "brier",
     .help = "Brier score of probabilities",
     .task = Task::kClassify,
     .higher_is_better = false,
     .make = make_brier_score},
    {.name = "ece",
     .help = "expected calibration error",
     .task = Task::kClassify,
     .higher_is_better = false,
     .make = make_calibration_error},
    {.name = "f1", .help = "macro F1", .task = Task::kClassify, .make = make_f1},
    {.name = "mae",
     .help = "mean absolute and squared error",
     .task = Task::kRegress,
     .unit = MetricUnit::kRelative,
     .higher_is_better = false,
     .suits = are_any,
     .make = make_mean_error},
    {.name = "recall",
     .help = "nearest neighbors of embeddings",
     .task = Task::kEmbed,
     .make = make_neighbors},
    {.name = "lines", .help = "lines of text without an error", .task = Task::kCtc, .make = make_text_lines},
    {.name = "iou", .help = "mean IoU of classes", .task = Task::kSegment, .make = make_segmentation},
    {.name = "entity_f1", .help = "F1 of tagged entities", .task = Task::kTag, .make = make_tags},
    {.name = "si_snr",
     .help = "SI-SNR of sound, log-spectral distance",
     .task = Task::kAudio,
     .unit = MetricUnit::kDecibel,
     .make = make_sound},
};

// Finds the row with this name, else the first row of the task. Null if neither is given. Throws
// Error{kUsage} for an unknown metric, or a metric of another task.
const MetricInfo* find_metric(Task task, std::string_view name);
// Finds the default metric of a label and its output.
const MetricInfo& metric_for(const data::Tensor& label, const data::ValueDescription& output);

// True if the options request a metric, not only a comparison of outputs. For the options of any verb that
// judges.
template <class Options>
bool has_metric(const Options& options) {
  return !options.data.labels.empty() || options.task != Task::kAuto || options.metric_command.is_given();
}

}  // namespace ounce::evaluate
