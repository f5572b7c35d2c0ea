#include "evaluate/compare/comparison.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "data/class_rows.h"
#include "data/tensor.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "evaluate/models/feeds.h"

namespace ounce::evaluate {
namespace {

using data::TensorView;

constexpr std::uint64_t kRangedBatches = 32;  // batches that determine the input ranges
constexpr std::uint64_t kSequence = 16;       // with a recurrent state, this many samples count as one

// One sample of a batch; the whole tensor if it has no batch axis.
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

std::vector<TensorView> slices_of(std::span<const TensorView> outputs, std::size_t sample,
                                  std::size_t samples) {
  std::vector<TensorView> all;
  for (const TensorView& view : outputs) all.push_back(slice(view, sample, samples));
  return all;
}

// True for lists of detections: an axis other than the batch has a dynamic length.
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
                fmt::format("the candidate {} {}, but the reference {}: these are not two forms of one model",
                            verb, list_of(b), list_of(a)),
                candidate_path.string());
  };
  compare(reference.inputs(), candidate.inputs(), "takes");
  compare(reference.outputs(), candidate.outputs(), "gives");
}

Comparison::Comparison(StatefulExecutor& reference, StatefulExecutor& candidate, const VerifyOptions& options)
    : reference_(reference),
      candidate_(candidate),
      options_(options),
      info_(find_metric(options.task, options.metric)) {
  const bool finds_boxes = info_ != nullptr && info_->task == Task::kDetect;
  for (const data::ValueDescription& output : reference.model().outputs()) {
    const bool is_carried = is_state(options.data.carry, output.name);
    are_wanted_.push_back(is_wanted(options.outputs, output.name));
    const bool decides = !is_carried && are_wanted_.back() && !is_label(output) && !finds_boxes &&
                         (options.label_output.empty() || options.label_output == output.name);
    outputs_.emplace_back(output, decides ? options.threshold : std::nullopt);
    if (finds_boxes && is_list(output)) outputs_.back().allow_other_lengths();
    are_states_.push_back(is_carried);
    has_numbers_ = has_numbers_ || (!is_carried && are_wanted_.back() && !is_label(output));
  }
  largest_outputs_.resize(outputs_.size());
  evidence_.resize(outputs_.size());
  if (options.metric_command.is_given())
    command_ = std::make_unique<CommandMeter>(options.metric_command, reference.model().outputs());
  if (!options.label_output.empty()) labeled_output();  // throws if the output does not exist
}

std::size_t Comparison::labeled_output() const {
  const std::vector<data::ValueDescription>& outputs = reference_.model().outputs();
  const auto is_suitable = [&](std::size_t i) {
    return options_.label_output.empty() ? is_float_weight_type(outputs[i].given()) && !are_states_[i]
                                         : outputs[i].name == options_.label_output;
  };
  std::optional<std::size_t> found;  // a judged output is preferred
  for (std::size_t i = outputs.size(); i-- > 0;) {
    if (is_suitable(i) && (!found || are_wanted_[i] || !are_wanted_[*found])) found = i;
  }
  if (found) return *found;
  throw Error(ErrorCode::kUsage,
              options_.label_output.empty()
                  ? fmt::format("no numeric output to compare with the labels; outputs: {}", list_of(outputs))
                  : fmt::format("the model has no output '{}'; outputs: {}", options_.label_output,
                                list_of(outputs)));
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

namespace {

// The sampling rate of the first input that has one.
std::uint32_t rate_of(const DataOptions& data) {
  if (!data.contract) return InputPicture::kUsualRate;
  for (const auto& [name, input] : data.contract->inputs) {
    if (input.sampling_rate > 0 && input.sampling_rate <= 1'000'000)
      return static_cast<std::uint32_t>(input.sampling_rate);
  }
  return InputPicture::kUsualRate;
}

}  // namespace

// Adds the inputs of a sample and the predictions of both models to the report.
void Comparison::add_pictures(const data::Batch& batch, std::size_t sample, std::size_t output,
                              const TensorView& reference, const TensorView& candidate,
                              SampleDifference& worst) {
  const std::vector<data::ValueDescription>& inputs = reference_.model().inputs();
  PictureStyle style{.rate = rate_of(options_.data)};
  for (std::size_t i = 0; i < inputs.size() && !worst.picture; ++i)
    worst.picture = picture_of(inputs[i].name, slice(batch.inputs[i], sample, batch.names.size()), style);
  const data::ValueDescription& value = reference_.model().outputs()[output];
  worst.answers = best_answers(value, reference, candidate);
  if (worst.answers.empty() && reference.dims == candidate.dims && is_float_weight_type(reference.type)) {
    constexpr std::size_t kLeastSound = 2048;  // shorter outputs are features
    style.pixels = InputPicture::kOutputPixels;
    style.least_sound = kLeastSound;
    style.range = range_of(reference, value.name);  // the same scale for both
    worst.reference_output = picture_of(value.name, reference, style);
    worst.candidate_output = picture_of(value.name, candidate, style);
  }
  if (sample >= batch.labels.size() || batch.labels[sample].type == ElementType::kString) return;
  const std::vector<double> label = data::to_doubles(batch.labels[sample], batch.names[sample]);
  if (label.size() == 1) worst.label = label[0];
}

void Comparison::note_worst(const data::Batch& batch, std::size_t sample, std::size_t output,
                            double difference, const TensorView& reference, const TensorView& candidate) {
  if (options_.worst == 0 || !(difference > 0)) return;
  // Counts of changed labels and numeric differences are not comparable: samples are ordered by changed
  // labels only if a model has no numeric outputs.
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

// Keeps the samples with a changed prediction and the largest differences.
void Comparison::note_changed(const data::Batch& batch, std::size_t sample, std::size_t output,
                              double difference, const TensorView& reference, const TensorView& candidate) {
  const auto place = std::find_if(changed_.begin(), changed_.end(), [&](const SampleDifference& other) {
    return other.max_abs_diff < difference;
  });
  if (options_.worst == 0 || (place == changed_.end() && changed_.size() == VerifyResult::kMostChanged))
    return;
  const auto noted =
      changed_.insert(place, {batch.names[sample], reference_.model().outputs()[output].name, difference, 0});
  if (options_.pictures) add_pictures(batch, sample, output, reference, candidate, *noted);
  if (changed_.size() > VerifyResult::kMostChanged) changed_.pop_back();
}

// Chooses the metric by the options, else by the first label. Without either there is no metric.
void Comparison::make_metric(const Sample& sample) {
  const auto described = [&](std::size_t output) {
    return data::described_as(sample.reference[output], reference_.model().outputs()[output]);
  };
  MeterSettings settings{reference_.model().outputs(), 0, options_.threshold, options_.tags};
  if (info_ == nullptr) info_ = &metric_for(*sample.label, described(labeled_output()));
  if (info_->task != Task::kDetect) {
    settings.output = labeled_output();
    settings.outputs[settings.output] = described(settings.output);
  }
  metric_ = info_->make(settings);
}

void Comparison::add_to_meters(const data::Batch& batch, std::size_t sample,
                               std::span<const TensorView> reference, std::span<const TensorView> candidate) {
  const std::size_t samples = batch.names.size();
  const data::Tensor* label = sample < batch.labels.size() ? &batch.labels[sample] : nullptr;
  const bool has_truth = label != nullptr || options_.task != Task::kAuto;
  if (!command_ && !has_truth) return;
  const std::vector<TensorView> ours = slices_of(reference, sample, samples),
                                theirs = slices_of(candidate, sample, samples);
  Sample one{ours, theirs, label, {}, batch.names[sample]};
  if (command_) command_->add(one);
  if (!has_truth) return;
  if (!metric_) make_metric(one);
  const bool has_same_shapes = std::equal(reference.begin(), reference.end(), candidate.begin(),
                                          [](const auto& a, const auto& b) { return a.dims == b.dims; });
  if (!has_same_shapes && info_->task != Task::kDetect) return;  // the outputs report it as a failure
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
  metric_->add(one);
  are_silent_[sample] = metric_->was_silent();
}

void Comparison::add(const data::Batch& batch, std::span<const TensorView> reference,
                     std::span<const TensorView> candidate) {
  const std::size_t samples = batch.names.size();
  are_silent_.assign(samples, false);
  for (std::size_t sample = 0; sample < samples; ++sample) add_to_meters(batch, sample, reference, candidate);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    // If the shapes differ, compare the whole batch, which fails: single samples could have equal shapes.
    const std::size_t slices = reference[i].dims == candidate[i].dims ? samples : 1;
    for (std::size_t sample = 0; sample < slices; ++sample) {
      const TensorView ours = slice(reference[i], sample, slices),
                       theirs = slice(candidate[i], sample, slices);
      const bool is_whole = ours.bytes.size() == reference[i].bytes.size();  // the batch is a single sample
      const bool is_silent =
          is_whole ? std::all_of(are_silent_.begin(), are_silent_.end(), [](bool is) { return is; })
                   : are_silent_[sample];
      const std::uint64_t changed_before = outputs_[i].other_answers();
      const double difference = outputs_[i].add(ours, theirs, is_silent);
      if (!are_states_[i] && are_wanted_[i]) {
        note_worst(batch, sample, i, difference, ours, theirs);
        if (!outputs_[i].is_label() && outputs_[i].other_answers() > changed_before)
          note_changed(batch, sample, i, difference, ours, theirs);
      }
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

// With a recurrent state, consecutive samples count as one sample.
void Comparison::note_evidence() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) note_evidence(i);
  noted_samples_ = samples_;
}

void Comparison::note_evidence(std::size_t output) {
  evidence_[output].add(outputs_[output]);
  outputs_[output].end_sample();
}

void Comparison::run(data::Feed& feed, Progress* progress) {
  begin_stage(progress, "comparing", feed.batches());
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
  result.changed = changed_;
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
      result.failures.push_back(fmt::format(
          "output '{}' has another shape than the reference in {} samples: {}", result.outputs.back().name,
          output.shape_differences(), output.first_shape_difference()));
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
  if (command_) {  // the user's own metric comes first and decides
    const std::vector<MetricResult> said = command_->results();
    result.metrics.insert(result.metrics.begin(), said.begin(), said.end());
  }
  result.reference_seconds = reference_.seconds();
  result.candidate_seconds = candidate_.seconds();
}

}  // namespace ounce::evaluate
