// Runs reference and candidate on the same inputs, sample by sample, and computes all results of verify() in
// constant memory (except for mean average precision, which keeps the boxes).
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/source/data_feed.h"
#include "data/tensor.h"
#include "evaluate/compare/difference.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"

namespace ounce::evaluate {

// Throws Error{kBadInput} if inputs or outputs of the candidate differ from those of the reference.
void require_same_interface(const runtime::Executor& reference, const runtime::Executor& candidate,
                            const std::filesystem::path& candidate_path);

class Comparison {
 public:
  Comparison(StatefulExecutor& reference, StatefulExecutor& candidate, const VerifyOptions& options);

  // Runs both models on the whole feed.
  void run(data::Feed& feed, Progress* progress);
  void fill(VerifyResult& result) const;

  // Observed during run(), to generate edge cases.
  const std::map<std::string, Range>& input_ranges() const { return input_ranges_; }
  const std::vector<data::Dims>& input_dims() const { return input_dims_; }  // from the first batch
  double largest_output(std::size_t output) const { return largest_outputs_[output]; }
  bool is_judged(std::size_t output) const { return are_wanted_[output]; }  // by VerifyOptions::outputs

 private:
  void add(const data::Batch& batch, std::span<const data::TensorView> reference,
           std::span<const data::TensorView> candidate);
  void add_to_meters(const data::Batch& batch, std::size_t sample,
                     std::span<const data::TensorView> reference,
                     std::span<const data::TensorView> candidate);
  void make_metric(const Sample& sample);
  void note_inputs(const data::Batch& batch);
  void note_evidence();
  void note_evidence(std::size_t output);
  void note_worst(const data::Batch& batch, std::size_t sample, std::size_t output, double difference,
                  const data::TensorView& reference, const data::TensorView& candidate);
  void note_changed(const data::Batch& batch, std::size_t sample, std::size_t output, double difference,
                    const data::TensorView& reference, const data::TensorView& candidate);
  void add_pictures(const data::Batch& batch, std::size_t sample, std::size_t output,
                    const data::TensorView& reference, const data::TensorView& candidate,
                    SampleDifference& worst);
  std::size_t labeled_output() const;

  StatefulExecutor& reference_;
  StatefulExecutor& candidate_;
  const VerifyOptions& options_;
  std::vector<OutputMeter> outputs_;
  std::vector<OutputEvidence> evidence_;
  std::vector<bool> are_states_, are_wanted_;
  bool has_numbers_ = false;      // one of the judged outputs is numeric
  std::vector<bool> are_silent_;  // per sample of the batch: neither model detects anything
  std::vector<double> largest_outputs_;
  const MetricInfo* info_;  // null until the first label selects the metric
  std::unique_ptr<Meter> metric_, command_;
  std::vector<SampleDifference> worst_, changed_;
  std::map<std::string, Range> input_ranges_;
  std::vector<data::Dims> input_dims_;
  std::uint64_t samples_ = 0, noted_samples_ = 0, ranged_batches_ = 0;
  std::vector<float> reference_floats_, candidate_floats_;
};

// Runs both models on inputs that are rare in test data but occur on devices: all zero, all minimum or
// maximum, noise, values far out of range, a batch of one, a large batch, the shortest and a long sequence.
// `inputs`: the inputs of both models. A case fails if the candidate fails where the reference runs, gives
// NaN or infinity where the reference is finite, or differs by more than ten times the largest value seen in
// the reference.
std::vector<EdgeCase> run_edge_cases(const std::filesystem::path& reference_path, StatefulExecutor& reference,
                                     StatefulExecutor& candidate,
                                     const std::vector<data::ValueDescription>& inputs,
                                     const Comparison& seen, const DataOptions& options);

// How an input or output is rendered.
struct PictureStyle {
  int pixels = InputPicture::kPixels;             // of the longer side of an image
  std::uint32_t rate = InputPicture::kUsualRate;  // of a sound
  std::size_t least_sound = 256;                  // shorter sequences are no sound
  std::optional<Range> range = {};  // of black and white, or of the largest amplitude; unset: by the values
};

// The smallest and the largest finite value.
Range range_of(const data::TensorView& values, const std::string& name);

// Renders an input or output for the HTML report: [1, 3, 224, 224] is an image, [1, 16000] a waveform.
// `values` are one sample with its batch axis. Pixels are scaled from the smallest to the largest value,
// because normalized values have no fixed range. Returns nothing for other values, such as tokens or
// features.
std::optional<InputPicture> picture_of(const std::string& name, const data::TensorView& values,
                                       const PictureStyle& style = {});

// The scores of both models for the top classes of either, in the reference's order. Returns nothing unless
// the output is a single row of class scores.
std::vector<ClassScore> best_answers(const data::ValueDescription& output, const data::TensorView& reference,
                                     const data::TensorView& candidate);

}  // namespace ounce::evaluate
