// Builds a quantized model for a recipe, runs it on some of the data, and tells how far its outputs are from
// the original's. Nothing is left behind.
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "base/temporary_folder.h"
#include "make/error_meter.h"
#include "make/variant.h"
#include "measure/difference.h"
#include "measure/float_ports.h"
#include "measure/kept_runs.h"
#include "measure/open.h"
#include "measure/spread.h"
#include "measure/worst_output.h"

namespace ounce::make {
namespace {

class VariantMeter : public ErrorMeter {
 public:
  // Runs the original on `samples` samples, evenly spaced over the data (the first ones when a state is
  // carried), and keeps its outputs.
  VariantMeter(const std::filesystem::path& original, const QuantizeOptions& options, std::uint64_t samples,
               MeasuredOn which, AdaptPlan adapt);

  double error(const PreparedModel& prepared, const Recipe& recipe) override;
  std::uint64_t samples() const override { return kept_->runs().size(); }
  std::size_t measured() const override { return measured_; }

 private:
  std::unique_ptr<measure::Stepper> load(const std::filesystem::path& model) const;
  double run(const std::filesystem::path& model);

  const QuantizeOptions& options_;
  AdaptPlan adapt_;
  RuntimeOptions runtime_;
  std::shared_ptr<runtime::Runners> runners_ = std::make_shared<runtime::Runners>();
  measure::OpenFeed open_;
  std::optional<measure::KeptRuns> kept_;
  std::vector<data::ValueDescription> outputs_;
  ThreadPool pool_;
  TemporaryFolder folder_{"variant"};
  std::size_t measured_ = 0;
};

VariantMeter::VariantMeter(const std::filesystem::path& original, const QuantizeOptions& options,
                           std::uint64_t samples, MeasuredOn which, AdaptPlan adapt)
    : options_(options), adapt_(std::move(adapt)), pool_(options.threads) {
  runtime_.library = options.trial.runtime.library;
  runtime_.isolate = options.trial.runtime.isolate;
  const auto stepper = load(original);
  outputs_ = stepper->model().outputs();
  open_ = measure::open_feed(original, stepper->model().inputs(), options.trial.data);
  const bool is_half = which == MeasuredOn::kOtherHalf;
  auto batches =
      measure::spread(open_.feed->batches() / (is_half ? 2 : 1), samples, !options.trial.data.carry.empty());
  if (is_half) std::for_each(batches.begin(), batches.end(), [](std::uint64_t& i) { i = 2 * i + 1; });
  kept_.emplace(*stepper, *open_.feed, batches, measure::kMostKeptBytes);
}

std::unique_ptr<measure::Stepper> VariantMeter::load(const std::filesystem::path& model) const {
  runtime::ExecutorOptions how = measure::executor_options(runtime_);
  how.runners = runners_;
  return std::make_unique<measure::Stepper>(measure::load_as_floats(model, how), options_.trial.data.carry);
}

double VariantMeter::error(const PreparedModel& prepared, const Recipe& recipe) {
  throw_if_cancelled();
  ++measured_;
  const std::filesystem::path path = folder_.path() / "variant.onnx";
  write_variant(prepared, recipe, path, pool_, adapt_);
  if (measured_ == 1 && !runtime_.isolate) measure::require_loadable(path, runtime_);
  return run(path);
}

double VariantMeter::run(const std::filesystem::path& model) {
  const auto stepper = load(model);
  std::vector<measure::Difference> differences(outputs_.size());
  // As in measure/worst_output.h.
  std::vector<bool> counts;
  bool has_floats = false;
  for (const data::ValueDescription& output : outputs_) {
    counts.push_back(!measure::is_state(options_.trial.data.carry, output.name));
    has_floats |= counts.back() && onnx::is_float_weight_type(output.given());
  }
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    counts[k] = counts[k] && onnx::is_float_weight_type(outputs_[k].given()) == has_floats;
  bool has_same_shapes = true;
  kept_->replay(*stepper, *open_.feed, [&](const measure::KeptRun& run, auto given) {
    for (std::size_t k = 0; k < outputs_.size() && has_same_shapes; ++k) {
      if (!counts[k]) continue;
      has_same_shapes = given[k].dims == run.outputs[k].dims;
      if (has_same_shapes) differences[k].add(run.outputs[k], given[k], outputs_[k].name);
    }
    return has_same_shapes;
  });
  if (!has_same_shapes) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (const measure::Difference& difference : differences) {
    if (difference.newly_not_finite != 0) return std::numeric_limits<double>::infinity();
    if (difference.squared > 0) worst = std::max(worst, difference.squared / difference.reference);
  }
  return worst;
}

}  // namespace

std::unique_ptr<ErrorMeter> measure_variants(const std::filesystem::path& original,
                                             const QuantizeOptions& options, std::uint64_t samples,
                                             MeasuredOn which, AdaptPlan adapt) {
  return std::make_unique<VariantMeter>(original, options, samples, which, std::move(adapt));
}

}  // namespace ounce::make
