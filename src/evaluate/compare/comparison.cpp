#include "evaluate/compare/comparison.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "data/class_rows.h"
#include "data/convert.h"
#include "evaluate/compare/sample_picture.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/feeds.h"

namespace ounce::evaluate {
namespace {

using data::TensorView;

constexpr std::uint64_t kRangedBatches = 32;  // enough to know what inputs look like
constexpr std::uint64_t kSequence = 16;       // samples that follow from each other and count as one

// One sample of a batch; the whole value when it has no batch axis.
TensorView slice(const TensorView& whole, std::size_t sample, std::size_t samples) {
  if (samples == 1 || whole.dims.empty() || whole.dims[0] != static_cast<std::int64_t>(samples) ||
      whole.bytes.empty())
    return whole;
  TensorView part = whole;
  const std::size_t size = whole.bytes.size() / samples;
  part.dims[0] = 1;
  part.bytes = whole.bytes.substr(sample * size, size);
  return part;
}

// A class that is written as 1.0, as tables have it: one whole number where the output has several.
bool is_class_of(const data::Tensor& label, const TensorView& output) {
  const std::vector<double> numbers = data::to_doubles(label, "the labels");
  if (numbers.size() != 1 || output.dims.size() < 2 || output.dims.back() < 2) return false;
  return numbers[0] == std::floor(numbers[0]) && numbers[0] >= 0 &&
         numbers[0] < static_cast<double>(output.dims.back());
}

std::vector<TensorView> slices_of(std::span<const TensorView> outputs, std::size_t sample,
                                  std::size_t samples) {
  std::vector<TensorView> all;
  for (const TensorView& view : outputs) all.push_back(slice(view, sample, samples));
  return all;
}

// Lists of what was found: along an axis that is no batch, they are as long as there is something.
bool is_list(const data::ValueDescription& output) {
  const auto& shape = output.shape;
  return std::any_of(shape.begin(), shape.end(), [&](const auto& dimension) {
    return dimension.value < 0 && (&dimension != shape.data() || shape.size() <= 2);
  });
}

std::string list_of(const std::vector<data::ValueDescription>& values) {
  std::vector<std::string> all;
  for (const auto& value : values) all.push_back(fmt::format("{} {}", value.name, data::describe(value)));
  return fmt::format("{}", fmt::join(all, ", "));
}

bool is_same(const std::vector<data::ValueDescription>& a, const std::vector<data::ValueDescription>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.element == y.element && x.shape.size() == y.shape.size();
  });
}

}  // namespace

void require_same_interface(const runtime::Executor& reference, const runtime::Executor& candidate,
                            const std::filesystem::path& candidate_path) {
  const auto compare = [&](const auto& a, const auto& b, const char* verb) {
    if (is_same(a, b)) return;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} {}, and the reference {}: these are not two forms of one model", verb,
                            list_of(b), list_of(a)),
                candidate_path.string());
  };
  compare(reference.inputs(), candidate.inputs(), "takes");
  compare(reference.outputs(), candidate.outputs(), "gives");
}

Comparison::Comparison(Stepper& reference, Stepper& candidate, const VerifyOptions& options)
    : reference_(reference), candidate_(candidate), options_(options) {
  for (const data::ValueDescription& output : reference.model().outputs()) {
    const bool is_carried = is_state(options.data.carry, output.name);
    are_wanted_.push_back(is_wanted(options.outputs, output.name));
    const bool decides = !is_carried && are_wanted_.back() && !is_label(output) &&
                         options.metric != Metric::kMap && options.task != Task::kDetect &&
                         (options.label_output.empty() || options.label_output == output.name);
    outputs_.emplace_back(output, decides ? options.threshold : std::nullopt);
    are_states_.push_back(is_carried);
    has_numbers_ = has_numbers_ || (!is_carried && are_wanted_.back() && !is_label(output));
  }
  largest_outputs_.resize(outputs_.size());
  evidence_.resize(outputs_.size());
  if (options.metric_command.is_given())
    command_ = std::make_unique<CommandMeter>(options.metric_command, reference.model().outputs());
  if (options.task != Task::kAuto) {
    const std::vector<data::ValueDescription>& outputs = reference.model().outputs();
    const std::size_t output = options.task == Task::kDetect ? 0 : labelled_output();
    task_ = make_task_meter({options.task, outputs, output, options.metric, options.threshold, options.tags});
    for (std::size_t i = 0; options.task == Task::kDetect && i < outputs.size(); ++i) {
      if (is_list(outputs[i])) outputs_[i].allow_other_lengths();
    }
  }
  if (!options.label_output.empty()) labelled_output();  // throws when there is no such output
}

std::size_t Comparison::labelled_output() const {
  const std::vector<data::ValueDescription>& outputs = reference_.model().outputs();
  const auto is_suitable = [&](std::size_t i) {
    return options_.label_output.empty() ? is_float_weight_type(outputs[i].given()) && !are_states_[i]
                                         : outputs[i].name == options_.label_output;
  };
  std::optional<std::size_t> found;  // one that is judged, if there is one
  for (std::size_t i = outputs.size(); i-- > 0;) {
    if (is_suitable(i) && (!found || are_wanted_[i] || !are_wanted_[*found])) found = i;
  }
  if (found) return *found;
  throw Error(
      ErrorCode::kUsage,
      options_.label_output.empty()
          ? fmt::format("no output has numbers for the labels; there are {}", list_of(outputs))
          : fmt::format("the model has no output '{}'; it has {}", options_.label_output, list_of(outputs)));
}

void Comparison::note_inputs(const data::Batch& batch) {
  if (ranged_batches_++ >= kRangedBatches) return;
  const std::vector<data::ValueDescription>& inputs = reference_.model().inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (input_dims_.size() < inputs.size()) input_dims_.push_back(batch.inputs[i].dims);
    if (!is_float_weight_type(inputs[i].element)) continue;
    std::vector<float> converted;
    const auto floats = data::floats_of(batch.inputs[i], converted, inputs[i].name);
    if (floats.empty()) continue;
    const auto [low, high] = std::minmax_element(floats.begin(), floats.end());
    const auto [place, is_new] = input_ranges_.try_emplace(inputs[i].name, Range{*low, *high});
    if (!is_new) {
      place->second = {std::min<double>(place->second.low, *low),
                       std::max<double>(place->second.high, *high)};
    }
  }
}

// What the sample was given, and what both say of it.
void Comparison::add_pictures(const data::Batch& batch, std::size_t sample, std::size_t output,
                              const TensorView& reference, const TensorView& candidate,
                              SampleDifference& worst) {
  const std::vector<data::ValueDescription>& inputs = reference_.model().inputs();
  for (std::size_t i = 0; i < inputs.size() && !worst.picture; ++i)
    worst.picture = picture_of(inputs[i].name, slice(batch.inputs[i], sample, batch.names.size()));
  worst.answers = best_answers(reference_.model().outputs()[output], reference, candidate);
  if (sample >= batch.labels.size() || batch.labels[sample].type == ElementType::kString) return;
  const std::vector<double> label = data::to_doubles(batch.labels[sample], batch.names[sample]);
  if (label.size() == 1) worst.label = label[0];
}

void Comparison::note_worst(const data::Batch& batch, std::size_t sample, std::size_t output,
                            double difference, const TensorView& reference, const TensorView& candidate) {
  if (options_.worst == 0 || !(difference > 0)) return;
  // One label that changes is not a difference of 1: samples are ordered by changed labels only where a
  // model gives nothing else.
  const bool is_count = outputs_[output].is_label() && std::isfinite(difference);
  if (is_count && has_numbers_) return;
  const auto size_of = [](const SampleDifference& one) {
    return one.max_abs_diff + static_cast<double>(one.changed);
  };
  if (worst_.size() == options_.worst && size_of(worst_.back()) >= difference) return;
  const auto place = std::find_if(worst_.begin(), worst_.end(),
                                  [&](const SampleDifference& other) { return size_of(other) < difference; });
  const auto noted = worst_.insert(
      place, {batch.names[sample], reference_.model().outputs()[output].name, is_count ? 0 : difference,
              is_count ? static_cast<std::uint64_t>(difference) : 0});
  if (options_.pictures) add_pictures(batch, sample, output, reference, candidate, *noted);
  if (worst_.size() > options_.worst) worst_.pop_back();
}

void Comparison::add_label(const data::Batch& batch, std::size_t sample,
                           std::span<const TensorView> reference, std::span<const TensorView> candidate) {
  const data::Tensor& label = batch.labels[sample];
  Metric metric = options_.metric;
  if (metric == Metric::kAuto) {
    const bool is_boxes = label.dims.size() == 2 && (label.dims[1] == 4 || label.dims[1] == 5) &&
                          is_float_weight_type(label.type);
    metric = is_boxes ? Metric::kMap : metric_for(label.type);
    if (metric == Metric::kMae && is_class_of(label, reference[labelled_output()]))
      metric = Metric::kAccuracy;
  }
  if (metric == Metric::kMap || detection_) {
    if (!detection_)
      detection_ = std::make_unique<DetectionMeter>(reference_.model().outputs(),
                                                    options_.threshold.value_or(kLeastScore));
    detection_->add(slices_of(reference, sample, batch.names.size()),
                    slices_of(candidate, sample, batch.names.size()), &label, batch.names[sample]);
    are_silent_[sample] = detection_->was_silent();
    return;
  }
  if (!metric_) {
    labelled_ = labelled_output();
    metric_ =
        make_meter(metric, described_as(reference[*labelled_], reference_.model().outputs()[*labelled_]));
  }
  // Noted by the output's meter, and fatal there.
  if (reference[*labelled_].dims != candidate[*labelled_].dims) return;
  const TensorView ours = slice(reference[*labelled_], sample, batch.names.size());
  const TensorView theirs = slice(candidate[*labelled_], sample, batch.names.size());
  metric_->add({data::floats_of(ours, reference_floats_, batch.names[sample]),
                data::floats_of(theirs, candidate_floats_, batch.names[sample]), ours.dims, &label,
                batch.names[sample]});
}

void Comparison::add_task(const data::Batch& batch, std::size_t sample, std::span<const TensorView> reference,
                          std::span<const TensorView> candidate) {
  const std::size_t samples = batch.names.size();
  const std::vector<TensorView> ours = slices_of(reference, sample, samples),
                                theirs = slices_of(candidate, sample, samples);
  const bool has_same_shapes = std::equal(ours.begin(), ours.end(), theirs.begin(),
                                          [](const auto& a, const auto& b) { return a.dims == b.dims; });
  if (!has_same_shapes && options_.task != Task::kDetect) return;  // noted by the meters, and fatal there
  TaskSample one{
      ours, theirs, sample < batch.labels.size() ? &batch.labels[sample] : nullptr, {}, batch.names[sample]};
  const std::vector<data::ValueDescription>& inputs = reference_.model().inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView input = slice(batch.inputs[i], sample, samples);
    if (inputs[i].name.find("mask") != std::string::npos && input.type != ElementType::kString) {
      for (const double value : data::to_doubles(input, inputs[i].name)) one.mask.push_back(value != 0);
    }
    if (input.dims.size() != 4 || one.picture_width > 0) continue;
    const bool is_channels_last = input.dims[3] <= 4;
    one.picture_height = static_cast<double>(input.dims[is_channels_last ? 1 : 2]);
    one.picture_width = static_cast<double>(input.dims[is_channels_last ? 2 : 3]);
  }
  task_->add(one);
  are_silent_[sample] = task_->was_silent();
}

void Comparison::add(const data::Batch& batch, std::span<const TensorView> reference,
                     std::span<const TensorView> candidate) {
  const std::size_t samples = batch.names.size();
  are_silent_.assign(samples, false);
  for (std::size_t sample = 0; command_ && sample < samples; ++sample)
    command_->add(slices_of(reference, sample, samples), slices_of(candidate, sample, samples),
                  sample < batch.labels.size() ? &batch.labels[sample] : nullptr);
  for (std::size_t sample = 0; task_ && sample < samples; ++sample)
    add_task(batch, sample, reference, candidate);
  for (std::size_t sample = 0; !task_ && sample < batch.labels.size(); ++sample)
    add_label(batch, sample, reference, candidate);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    // Slices of different shapes might look alike: those are compared as a whole, and refused.
    const std::size_t slices = reference[i].dims == candidate[i].dims ? samples : 1;
    for (std::size_t sample = 0; sample < slices; ++sample) {
      const TensorView ours = slice(reference[i], sample, slices),
                       theirs = slice(candidate[i], sample, slices);
      const bool is_whole = ours.bytes.size() == reference[i].bytes.size();  // not cut: the batch is one
      const bool is_silent =
          is_whole ? std::all_of(are_silent_.begin(), are_silent_.end(), [](bool is) { return is; })
                   : are_silent_[sample];
      const double difference = outputs_[i].add(ours, theirs, is_silent);
      if (!are_states_[i] && are_wanted_[i]) note_worst(batch, sample, i, difference, ours, theirs);
      if (options_.data.carry.empty()) note_evidence(i);
      if (is_whole) break;
    }
    if (is_float_weight_type(reference[i].type) && ranged_batches_ <= kRangedBatches) {
      for (const float value : data::floats_of(reference[i], reference_floats_, "")) {
        if (std::isfinite(value))
          largest_outputs_[i] = std::max<double>(largest_outputs_[i], std::fabs(value));
      }
    }
  }
  samples_ += samples;
  if (!options_.data.carry.empty() && samples_ >= noted_samples_ + kSequence) note_evidence();
}

// With a carried state, what came one after the other is one sample.
void Comparison::note_evidence() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) note_evidence(i);
  noted_samples_ = samples_;
}

void Comparison::note_evidence(std::size_t output) {
  evidence_[output].add(outputs_[output]);
  outputs_[output].end_sample();
}

void Comparison::run(data::Feed& feed, Progress* progress) {
  if (progress != nullptr) {
    progress->done = 0;
    progress->total = feed.batches();
    progress->stage = "comparing";
  }
  Prefetch batches(feed);
  while (const data::Batch* batch = batches.next()) {
    throw_if_cancelled();
    note_inputs(*batch);
    const auto reference = reference_.run(*batch);
    const auto candidate = candidate_.run(*batch);
    add(*batch, reference, candidate);
    if (progress != nullptr) ++progress->done;
  }
  if (!options_.data.carry.empty() && samples_ > noted_samples_) note_evidence();
}

void Comparison::fill(VerifyResult& result) const {
  result.samples = samples_;
  result.worst = worst_;
  double absolute = 0, values = 0;
  bool has_numbers = false;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const OutputMeter& output = outputs_[i];
    result.outputs.push_back(output.result());
    result.outputs.back().is_state = are_states_[i];
    result.outputs.back().is_judged = are_wanted_[i];
    evidence_[i].fill(result.outputs.back());
    result.independent_samples = std::max(result.independent_samples, evidence_[i].samples());
    result.outputs.back().is_list = output.is_list();
    if (output.shape_differences() != 0 && are_wanted_[i]) {
      result.failures.push_back(fmt::format("output '{}' has another shape in {} samples: {}",
                                            result.outputs.back().name, output.shape_differences(),
                                            output.first_shape_difference()));
    }
    if (are_states_[i] || !are_wanted_[i] || output.is_label()) continue;
    has_numbers = true;
    result.max_abs_diff = std::max(result.max_abs_diff, output.difference().largest);
    absolute += output.difference().absolute;
    values += static_cast<double>(output.difference().values);
  }
  result.mean_abs_diff = values == 0 ? 0 : absolute / values;
  if (!has_numbers) result.max_abs_diff = result.mean_abs_diff = std::numeric_limits<double>::quiet_NaN();
  result.worst_sqnr_db = worst_sqnr(result.outputs);
  if (metric_) result.metrics = metric_->results();
  if (detection_) result.metrics = detection_->results();
  if (task_) result.metrics = task_->results();
  if (command_) {  // what the user asks for is what decides
    const std::vector<MetricResult> said = command_->results();
    result.metrics.insert(result.metrics.begin(), said.begin(), said.end());
  }
  result.reference_seconds = reference_.seconds();
  result.candidate_seconds = candidate_.seconds();
}

}  // namespace ounce::evaluate
