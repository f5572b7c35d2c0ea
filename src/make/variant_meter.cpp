#include "make/variant_meter.h"

#include <ounce/error.h>

#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "make/variant.h"
#include "measure/difference.h"
#include "measure/float_ports.h"
#include "measure/spread.h"
#include "measure/worst_output.h"

namespace ounce::make {
namespace {

constexpr std::uint64_t kMostOutputBytes = std::uint64_t{256} << 20;  // of the original's, kept

std::unique_ptr<measure::Stepper> load(const std::filesystem::path& model, const QuantizeOptions& options) {
  RuntimeOptions how;
  how.library = options.trial.runtime.library;
  return std::make_unique<measure::Stepper>(measure::load_as_floats(model, measure::executor_options(how)),
                                            options.trial.data.carry);
}

}  // namespace

double decibels(double error) {
  return error > 0 ? -10 * std::log10(error) : std::numeric_limits<double>::infinity();
}

VariantMeter::VariantMeter(const std::filesystem::path& original, const QuantizeOptions& options,
                           std::uint64_t samples)
    : options_(options), pool_(options.threads) {
  const auto stepper = load(original, options);
  outputs_ = stepper->model().outputs();
  open_ = measure::open_feed(original, stepper->model().inputs(), options.trial.data);
  batches_ = measure::spread(open_.feed->batches(), samples, !options.trial.data.carry.empty());
  data::Batch batch;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    throw_if_cancelled();
    open_.feed->read(batches_[i], batch);
    auto& outputs = expected_.emplace_back();
    for (const data::TensorView& view : stepper->run(batch)) {
      outputs.push_back(data::copy_of(view));
      bytes += view.bytes.size();
    }
    if (bytes > kMostOutputBytes) batches_.resize(i + 1);
  }
}

double VariantMeter::error(const PreparedModel& prepared, const Recipe& recipe) {
  throw_if_cancelled();
  ++measured_;
  const std::filesystem::path path = folder_.path() / "variant.onnx";
  write_variant(prepared, recipe, path, pool_);
  if (measured_ == 1) {
    RuntimeOptions how;
    how.library = options_.trial.runtime.library;
    measure::require_loadable(path, how);
  }
  return run(path);
}

double VariantMeter::run(const std::filesystem::path& model) {
  const auto stepper = load(model, options_);
  std::vector<measure::Difference> differences(outputs_.size());
  data::Batch batch;
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    throw_if_cancelled();
    open_.feed->read(batches_[i], batch);
    const auto given = stepper->run(batch);
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      // As in measure/worst_output.h.
      if (!onnx::is_float_weight_type(given[k].type) ||
          measure::is_state(options_.trial.data, outputs_[k].name))
        continue;
      if (given[k].dims != expected_[i][k].dims) return std::numeric_limits<double>::infinity();
      differences[k].add(expected_[i][k], given[k], outputs_[k].name);
    }
  }
  double worst = 0;
  for (const measure::Difference& difference : differences) {
    if (difference.newly_not_finite != 0) return std::numeric_limits<double>::infinity();
    if (difference.squared > 0) worst = std::max(worst, difference.squared / difference.reference);
  }
  return worst;
}

}  // namespace ounce::make
