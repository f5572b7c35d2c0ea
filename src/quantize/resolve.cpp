#include "quantize/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "data/contract/model_contract.h"
#include "quantize/candidate_error.h"
#include "quantize/nbits_search.h"
#include "target/ort/kernel_pairs.h"

namespace ounce::quantization {
namespace {

// With fewer samples, what fits them best says nothing of others.
constexpr std::uint64_t kFewForSearch = 8;

// What the contract's rescaling, means and deviations come to, for inputs that are not sound.
std::map<std::string, RawInput> raw_inputs_of(const std::filesystem::path& model, const DataOptions& data) {
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

}  // namespace

QuantizeOptions for_target(QuantizeOptions options) {
  // Where the target promises that no product saturates, weights have all of their 8 bits.
  std::optional<bool>& reduce_range = options.recipe.integer.reduce_range;
  if (!reduce_range && target::has_exact_products(target::parse_target(options.recipe.target)))
    reduce_range = false;
  // Rounding for outputs leaves no mean error to correct.
  if (options.recipe.rounding == Rounding::kAdaptive) options.recipe.integer.correct_bias = false;
  return options;
}

Resolved resolve(const std::filesystem::path& path, const QuantizeOptions& given,
                 std::vector<std::string>& notes, const StaticLimits& limits) {
  Resolved resolved{std::make_shared<const PreparedModel>(path, given), as_it_is(given.recipe)};
  const std::shared_ptr<const PreparedModel>& prepared = resolved.prepared;
  if (is_few_bits(given.recipe.format)) {
    search_few_bits(path, given, *prepared, resolved.recipe, notes);
    return resolved;
  }
  IntegerRecipe& integer = resolved.recipe.integer;
  if (integer.integer_io) integer.raw_inputs = raw_inputs_of(path, given.trial.data);
  // Without data there is nothing to measure on, and a correction is only taken when it helps.
  if (prepared->is_trained()) {
    if (prepared->keeps_saturating()) integer.reduce_range = false;  // all 8 bits, as they were trained
    return resolved;
  }
  if (given.trial.data.is_generated()) integer.correct_bias = false;
  if (prepared->ranges() != nullptr && prepared->ranges()->samples < kFewForSearch &&
      integer.calibration == CalibrationMethod::kAuto) {
    integer.calibration = CalibrationMethod::kMinMax;
    notes.push_back(
        fmt::format("calibrated on {} sample{} only: ranges are all that occurred, and other "
                    "data may go beyond; give 100 or more",
                    prepared->ranges()->samples, prepared->ranges()->samples == 1 ? "" : "s"));
  }
  const bool is_halved = given.recipe.format == Format::kStatic && integer.every_second;
  if (is_halved && !prepared->has_half()) {
    throw Error(ErrorCode::kUsage,
                "`integer.every_second` takes data of 16 samples or more, one by one, and no file of ranges",
                path.string());
  }
  const bool can_measure = !given.trial.data.is_generated() && prepared->ranges() != nullptr;
  if (can_measure && given.recipe.integer.search) {
    const bool is_enough = prepared->has_half() && prepared->ranges()->samples >= kManyForSearch;
    const MeasuredOn which = is_enough ? MeasuredOn::kOtherHalf : MeasuredOn::kAll;
    const auto make_meter = [&](std::uint64_t samples) {
      return measure_variants(path, given, samples, which);
    };
    search_static(given, limits, make_meter, resolved, notes);
  } else if (can_measure && may_equalize(given)) {
    if (auto even = prepared->equalized(given)) resolved.prepared = std::move(even);
  }
  if (is_halved && prepared->has_half()) resolved.prepared = prepared->seen_by_half();
  integer.equalize = prepared->equalized_places() != 0;
  return resolved;
}

}  // namespace ounce::quantization
