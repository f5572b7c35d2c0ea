// Reference and candidate on the same inputs, sample by sample: everything that verify reports, in constant
// memory (but for boxes, which a mean average precision has to keep).
#pragma once

#include <ounce/verify.h>

#include <memory>
#include <vector>

#include "data/source/data_feed.h"
#include "evaluate/compare/difference.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/models/generate.h"
#include "evaluate/models/open.h"

namespace ounce::evaluate {

// Throws Error{kBadInput} when the candidate does not take and give what the reference does.
void require_same_interface(const runtime::Executor& reference, const runtime::Executor& candidate,
                            const std::filesystem::path& candidate_path);

class Comparison {
 public:
  Comparison(StatefulExecutor& reference, StatefulExecutor& candidate, const VerifyOptions& options);

  // Runs the whole feed through both.
  void run(data::Feed& feed, Progress* progress);
  void fill(VerifyResult& result) const;

  // Seen on the way: what edge cases are made of.
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

}  // namespace ounce::evaluate
