// Reference and candidate on the same inputs, sample by sample: everything that verify reports, in constant
// memory (except boxes, which a mean average precision has to keep).
#pragma once

#include <ounce/pictures.h>
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

// Throws Error{kBadInput} when inputs or outputs of the candidate differ from those of the reference.
void require_same_interface(const runtime::Executor& reference, const runtime::Executor& candidate,
                            const std::filesystem::path& candidate_path);

class Comparison {
 public:
  Comparison(StatefulExecutor& reference, StatefulExecutor& candidate, const VerifyOptions& options);

  // Runs the whole feed through both.
  void run(data::Feed& feed, Progress* progress);
  void fill(VerifyResult& result) const;

  // Observed while running, to make edge cases.
  const std::map<std::string, Range>& input_ranges() const { return input_ranges_; }
  const std::vector<data::Dims>& input_dims() const { return input_dims_; }  // of the first batch
  double largest_output(std::size_t output) const { return largest_outputs_[output]; }
  bool is_judged(std::size_t output) const { return are_wanted_[output]; }  // as VerifyOptions::outputs says

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
  bool has_numbers_ = false;      // among the outputs to judge
  std::vector<bool> are_silent_;  // by sample of the batch: a detector finds nothing in it
  std::vector<double> largest_outputs_;
  const MetricInfo* info_;  // null until a label decides
  std::unique_ptr<Meter> metric_, command_;
  std::vector<SampleDifference> worst_;
  std::map<std::string, Range> input_ranges_;
  std::vector<data::Dims> input_dims_;
  std::uint64_t samples_ = 0, noted_samples_ = 0, ranged_batches_ = 0;
  std::vector<float> reference_floats_, candidate_floats_;
};

// Runs both models on inputs that real data seldom has and real devices meet: all zero, all maximum, noise,
// far out of range, one sample, many samples, the shortest and a long sequence. `inputs`: the inputs of both
// models. A case fails when the candidate does not run where the reference does, gives NaN or infinite values
// where the reference gives none, or explodes: differs by more than ten times the largest value seen in the
// reference.
std::vector<EdgeCase> run_edge_cases(const std::filesystem::path& reference_path, StatefulExecutor& reference,
                                     StatefulExecutor& candidate,
                                     const std::vector<data::ValueDescription>& inputs,
                                     const Comparison& seen, const DataOptions& options);

// An input of a model for the report: [1, 3, 224, 224] is a picture, [1, 16000] a waveform. `values` are one
// sample with its batch axis. Brightness goes from the smallest to the largest value, as normalized values
// have no white. Nothing for other values: tokens, a vector of features.
std::optional<InputPicture> picture_of(const std::string& input, const data::TensorView& values);

// The scores of both models for the best classes of either, in the reference's order. Nothing for outputs
// other than a single row of classes.
std::vector<ClassScore> best_answers(const data::ValueDescription& output, const data::TensorView& reference,
                                     const data::TensorView& candidate);

}  // namespace ounce::evaluate
