// How good a model is at what it is for (ounce/verify.h: Task): one meter a task, which gets every sample of
// the reference and of the candidate. Where a sample has no label, what the reference gives is the truth.
//
//   const auto meter = make_task_meter({Task::kEmbed, outputs, 0});
//   meter->add({reference, candidate, nullptr, {}, "val.npz[0]"});
//   result.metrics = meter->results();
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

struct TaskSample {
  std::span<const data::TensorView> reference, candidate;  // every output, of this sample alone
  const data::Tensor* label = nullptr;
  std::vector<bool> mask = {};                   // by position: does it count? Empty: all do
  std::string where;                             // the sample's name, for errors
  double picture_width = 0, picture_height = 0;  // of the model's input; 0: it takes none
};

class TaskMeter {
 public:
  virtual ~TaskMeter() = default;
  virtual void add(const TaskSample& sample) = 0;
  virtual std::vector<MetricResult> results() const = 0;  // the one that gates first
  // Of the last sample: did neither model detect anything? Its outputs are then below the threshold, and
  // their relative error means nothing.
  virtual bool was_silent() const { return false; }
};

struct TaskSettings {
  Task task = Task::kClassify;
  std::vector<data::ValueDescription> outputs;
  std::size_t output = 0;  // the one that is judged; detection finds its own
  Metric metric = Metric::kAuto;
  std::optional<double> threshold = {};
  std::vector<std::string> tags = {};
};

// Throws Error{kUsage} when the output cannot be what the task is about.
std::unique_ptr<TaskMeter> make_task_meter(const TaskSettings& settings);

// Each in its own file.
std::unique_ptr<TaskMeter> make_detection_task(const TaskSettings& settings);
std::unique_ptr<TaskMeter> make_embedding_task(const TaskSettings& settings);
std::unique_ptr<TaskMeter> make_text_line_task(const TaskSettings& settings);
std::unique_ptr<TaskMeter> make_segmentation_task(const TaskSettings& settings);
std::unique_ptr<TaskMeter> make_tag_task(const TaskSettings& settings);
std::unique_ptr<TaskMeter> make_sound_task(const TaskSettings& settings);

}  // namespace ounce::evaluate
