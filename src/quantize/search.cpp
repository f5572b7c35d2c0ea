#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <optional>

#include "data/contract/contract_file.h"
#include "quantize/candidate_error.h"
#include "quantize/nbits_search.h"
#include "quantize/pipeline.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

// With fewer samples, the best fit does not generalize.
constexpr std::uint64_t kFewForSearch = 8;

// Scales and offsets of the inputs (except audio) from rescaling, means and deviations of the preprocessing
// metadata.
std::map<std::string, RawInput> raw_inputs_of(const model::ModelFile& model, const DataOptions& data) {
  std::map<std::string, RawInput> raw;
  const std::optional<Contract> contract = data.contract ? data.contract : data::contract_in(model);
  if (!contract) return raw;
  for (const auto& [name, input] : contract->inputs) {
    if (input.kind == InputKind::kAudio || (!input.rescale_factor && input.mean.empty())) continue;
    const std::size_t channels = std::max({input.mean.size(), input.deviation.size(), std::size_t{1}});
    const auto at = [](const std::vector<double>& values, std::size_t c, double otherwise) {
      return values.empty() ? otherwise : values[values.size() == 1 ? 0 : c];
    };
    RawInput& entry = raw[name];
    for (std::size_t c = 0; c < channels; ++c) {
      const double deviation = at(input.deviation, c, 1);
      entry.scale.push_back(input.rescale_factor.value_or(1) / deviation);
      entry.offset.push_back(-at(input.mean, c, 0) / deviation);
    }
  }
  return raw;
}

// Searches the open options. If there is enough data, calibrates on every second sample and tests on the
// others.
std::shared_ptr<const StaticModel> search_int8(Quantization& q, std::shared_ptr<const StaticModel> prepared) {
  const IntegerRecipe& asked = q.options.recipe.integer;
  const calibration::Ranges* const ranges = prepared->ranges();
  const bool can_measure = !q.options.trial.data.is_generated() && ranges != nullptr;
  if (can_measure && asked.search) {
    const bool is_enough = prepared->with_half_the_ranges() != nullptr && ranges->samples >= q.limits.least_to_split;
    const MeasuredOn which = is_enough ? MeasuredOn::kOtherHalf : MeasuredOn::kAll;
    const auto make_meter = [&](std::uint64_t samples) {
      return measure_candidates(q.path(), q.options, samples, which);
    };
    StaticResult found = search_static(q.options, q.limits, make_meter, prepared, q.recipe, q.result.notes);
    q.recipe = std::move(found.recipe);
    q.why_floats = std::move(found.why_floats);
    return std::move(found.prepared);
  }
  if (can_measure && may_equalize(q.options)) {
    if (auto even = prepared->with_equal_channels(q.options)) return even;
  }
  return prepared;
}

}  // namespace

std::shared_ptr<const StaticModel> settle_static(Quantization& q,
                                                 std::shared_ptr<const StaticModel> prepared) {
  IntegerRecipe& integer = q.recipe.integer;
  // Bias correction is used only if it measurably helps, which random inputs cannot show.
  if (q.options.trial.data.is_generated()) integer.correct_bias = false;
  const calibration::Ranges* const ranges = prepared->ranges();
  if (ranges != nullptr && ranges->samples < kFewForSearch &&
      integer.calibration == CalibrationMethod::kAuto) {
    integer.calibration = CalibrationMethod::kMinMax;
    q.result.notes.push_back(
        fmt::format("calibrated on {} sample{} only: min-max ranges are used, and other data may exceed "
                    "them; give 100 or more",
                    ranges->samples, ranges->samples == 1 ? "" : "s"));
  }
  const bool is_halved = is_static(q.recipe.format) && q.options.recipe.integer.fit_on_even_samples;
  const bool has_half = prepared->with_half_the_ranges() != nullptr;
  if (is_halved && !has_half) {
    throw Error(ErrorCode::kUsage,
                "`integer.fit_on_even_samples` needs data of at least 16 samples with batch size 1 and no "
                "calibration "
                "file",
                q.path().string());
  }
  prepared = search_int8(q, std::move(prepared));
  if (is_halved && has_half) prepared = prepared->with_half_the_ranges();
  integer.equalize = prepared->equalized_pairs() != 0;
  return prepared;
}

namespace {

void search_integers(Quantization& q) {
  IntegerRecipe& integer = q.recipe.integer;
  if (integer.integer_io) integer.raw_inputs = raw_inputs_of(q.source(), q.options.trial.data);
  if (q.prepared->is_trained()) {
    if (q.prepared->keeps_saturating()) integer.reduce_range = false;  // the full range, as trained
    return;
  }
  q.prepared = std::static_pointer_cast<const PreparedModel>(settle_static(q, q.prepared));
}

}  // namespace

void search_onnx(Quantization& q) {
  q.recipe = as_it_is(q.options.recipe);
  if (is_nbits(q.recipe.format))
    search_nbits(q.path(), q.options, *q.prepared, q.recipe, q.result.notes);
  else
    search_integers(q);
  // The recipe has no open options: the search is off, `integer.equalize` records whether the prepared model
  // is equalized, and the same recipe always gives the same model.
}

}  // namespace ounce::quantization
