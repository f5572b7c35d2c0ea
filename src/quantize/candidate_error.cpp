// Builds a candidate in a temporary folder, runs it on some of the data, and measures the error of its
// outputs.
#include "quantize/candidate_error.h"

#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "evaluate/compare/difference.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"
#include "evaluate/models/reference_outputs.h"
#include "formats/onnx/file/writer.h"
#include "io/temporary_files.h"
#include "quantize/observation.h"
#include "quantize/onnx_emitter.h"

namespace ounce::quantization {
namespace {

double noise_of(const evaluate::Difference& difference) {
  return difference.squared > 0 ? difference.squared / difference.reference : 0;
}

constexpr double kMostScale = 16;  // larger factors make estimates from few runs useless

// `scale`: factor for each part; empty: no scaling.
double worst_of(const std::vector<evaluate::Difference>& differences, const std::vector<double>& scale) {
  double worst = 0;
  for (std::size_t k = 0; k < differences.size(); ++k)
    worst = std::max(worst, noise_of(differences[k]) * (scale.empty() ? 1 : scale[k]));
  return worst;
}

class CandidateEvaluator : public CandidateError {
 public:
  // Runs the original on `samples` samples, evenly spaced over the data (the first ones when a state is
  // carried), and keeps its outputs.
  CandidateEvaluator(const std::filesystem::path& original, const QuantizeOptions& options,
                     std::uint64_t samples, MeasuredOn which, WriteCandidate write);

  double error(const StaticModel& prepared, const Recipe& recipe) override;
  double estimate(const StaticModel& prepared, const Recipe& recipe) override;
  void choose_few(std::uint64_t samples) override;
  double spread() const override;
  std::uint64_t samples() const override { return kept_->runs().size(); }
  std::size_t measured() const override { return measured_; }

 private:
  std::unique_ptr<evaluate::StatefulExecutor> load(const std::filesystem::path& model) const;
  std::filesystem::path write(const StaticModel& prepared, const Recipe& recipe);
  // Returns nullopt if outputs have other shapes or are not finite.
  using Differences = std::vector<evaluate::Difference>;  // by part
  std::optional<Differences> run(const std::filesystem::path& model, const std::vector<std::size_t>& which,
                                 std::vector<Differences>* each = nullptr);

  const QuantizeOptions& options_;
  WriteCandidate write_;
  RuntimeOptions runtime_;
  std::shared_ptr<runtime::Runners> runners_ = std::make_shared<runtime::Runners>();
  evaluate::OpenFeed open_;
  std::optional<ReferenceOutputs> kept_;
  std::optional<evaluate::OutputParts> parts_;
  ThreadPool pool_;
  TemporaryFolder folder_{"variant"};
  std::size_t measured_ = 0;
  std::vector<std::size_t> all_, few_;  // runs
  std::vector<Differences> last_;       // of each run, in the last measurement on all runs
  std::vector<double> scale_;           // error on all runs / error on the few, by part
};

CandidateEvaluator::CandidateEvaluator(const std::filesystem::path& original, const QuantizeOptions& options,
                                       std::uint64_t samples, MeasuredOn which, WriteCandidate write)
    : options_(options), write_(std::move(write)), pool_(options.threads) {
  runtime_.library = options.trial.runtime.library;
  runtime_.isolate = options.trial.runtime.isolate;
  const auto stepper = load(original);
  open_ = evaluate::open_feed(original, stepper->model().inputs(), options.trial.data);
  const bool is_half = which == MeasuredOn::kOtherHalf;
  auto batches = evaluate::evenly_spaced(open_.feed->batches() / (is_half ? 2 : 1), samples,
                                         !options.trial.data.carry.empty());
  if (is_half) std::for_each(batches.begin(), batches.end(), [](std::uint64_t& i) { i = 2 * i + 1; });
  kept_.emplace(*stepper, *open_.feed, batches, evaluate::kMostKeptBytes);
  parts_.emplace(stepper->model().outputs(), options.trial.data.carry, kept_->runs(), options.trial.outputs);
  all_.resize(kept_->runs().size());
  std::iota(all_.begin(), all_.end(), 0);
}

std::unique_ptr<evaluate::StatefulExecutor> CandidateEvaluator::load(
    const std::filesystem::path& model) const {
  runtime::ExecutorOptions how = evaluate::executor_options(runtime_);
  how.runners = runners_;
  return std::make_unique<evaluate::StatefulExecutor>(evaluate::load_as_floats(model, how),
                                                      options_.trial.data.carry);
}

std::filesystem::path CandidateEvaluator::write(const StaticModel& prepared, const Recipe& recipe) {
  throw_if_cancelled();
  ++measured_;
  const std::filesystem::path path = folder_.path() / prepared.candidate_name();
  if (write_)
    write_(recipe, path, pool_);
  else
    prepared.write_candidate(recipe, path, pool_);
  if (measured_ == 1 && !runtime_.isolate) evaluate::require_loadable(path, runtime_);
  return path;
}

double CandidateEvaluator::error(const StaticModel& prepared, const Recipe& recipe) {
  const std::optional<Differences> all = run(write(prepared, recipe), all_, &last_);
  if (!all) last_.clear();
  return all ? worst_of(*all, {}) : std::numeric_limits<double>::infinity();
}

double CandidateEvaluator::estimate(const StaticModel& prepared, const Recipe& recipe) {
  if (few_.empty()) return error(prepared, recipe);
  const std::optional<Differences> few = run(write(prepared, recipe), few_);
  return few ? worst_of(*few, scale_) : std::numeric_limits<double>::infinity();
}

double CandidateEvaluator::spread() const {
  double worst = 0, found = 0;
  const auto runs = static_cast<double>(last_.size());
  for (std::size_t k = 0; k < parts_->size() && last_.size() > 1; ++k) {
    evaluate::Difference all;
    for (const Differences& run : last_) all.add(run[k]);
    const double noise = noise_of(all);
    if (!std::isfinite(noise) || !(noise > worst) || !(all.reference > 0)) continue;
    double squares = 0;  // of what a run adds to the noise beyond the share of its signal
    for (const Differences& run : last_) squares += std::pow(run[k].squared - noise * run[k].reference, 2);
    worst = noise;
    found = std::sqrt(squares / (runs - 1)) / (all.squared / runs);
  }
  return found;
}

void CandidateEvaluator::choose_few(std::uint64_t samples) {
  const bool is_state_carried = !options_.trial.data.carry.empty();
  few_ = informative_samples(last_, all_.size(), static_cast<std::size_t>(samples), is_state_carried);
  scale_.assign(parts_->size(), 1);
  if (last_.empty()) return;
  for (std::size_t k = 0; k < parts_->size(); ++k) {
    evaluate::Difference all, few;
    for (const Differences& run : last_) all.add(run[k]);
    for (const std::size_t i : few_) few.add(last_[i][k]);
    const double scale = noise_of(few) > 0 ? noise_of(all) / noise_of(few) : 1;
    if (std::isfinite(scale) && scale > 0) scale_[k] = std::clamp(scale, 1 / kMostScale, kMostScale);
  }
}

std::optional<CandidateEvaluator::Differences> CandidateEvaluator::run(const std::filesystem::path& model,
                                                                       const std::vector<std::size_t>& which,
                                                                       std::vector<Differences>* each) {
  const auto stepper = load(model);
  Differences sums(parts_->size());
  if (each != nullptr) each->clear();
  bool is_comparable = true;
  kept_->replay(*stepper, *open_.feed, which, [&](const ReferenceRun& run, auto given) {
    Differences here(parts_->size());
    is_comparable = parts_->add(run.outputs, given, here);
    for (std::size_t i = 0; i < here.size(); ++i) sums[i].add(here[i]);
    if (each != nullptr) each->push_back(std::move(here));
    return is_comparable;
  });
  return is_comparable ? std::optional(std::move(sums)) : std::nullopt;
}

}  // namespace

std::unique_ptr<CandidateError> measure_candidates(const std::filesystem::path& original,
                                                   const QuantizeOptions& options, std::uint64_t samples,
                                                   MeasuredOn which, WriteCandidate write) {
  return std::make_unique<CandidateEvaluator>(original, options, samples, which, std::move(write));
}

std::uint64_t write_candidate(const PreparedModel& prepared, const Recipe& recipe,
                              const std::filesystem::path& file, ThreadPool& pool, const AdaptPlan& adapt) {
  plan::Plan plan = plan::make_plan(prepared.model(), prepared.index(), recipe, pool, prepared.ranges());
  if (adapt) adapt(plan, pool);
  onnx::Model model = onnx::clone(prepared.model());
  rewrite(model, prepared.model(), prepared.index(), plan, {});
  return onnx::write_temporary(model, file, pool);
}

}  // namespace ounce::quantization
