#include "plan/encodings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibration/calibrators.h"

namespace ounce::plan {

ElementType element_type_of(ActivationType type) {
  switch (type) {
    case ActivationType::kS8: return ElementType::kInt8;
    case ActivationType::kU16: return ElementType::kUint16;
    case ActivationType::kS16: return ElementType::kInt16;
    case ActivationType::kU8: break;
  }
  return ElementType::kUint8;
}

ActivationType activation_type_of(ElementType type) {
  switch (type) {
    case ElementType::kInt8: return ActivationType::kS8;
    case ElementType::kUint16: return ActivationType::kU16;
    case ElementType::kInt16: return ActivationType::kS16;
    default: return ActivationType::kU8;
  }
}

CodeLimits limits_of(ElementType type) {
  switch (type) {
    case ElementType::kInt8: return {-128, 127};
    case ElementType::kUint16: return {0, 65535};
    case ElementType::kInt16: return {-32768, 32767};
    default: return {0, 255};
  }
}

ActivationQuantization make_quantization(const ValueRange& range, ActivationType type, bool is_symmetric) {
  ActivationQuantization quantization;
  quantization.type = element_type_of(type);
  const auto [lowest, highest] = limits_of(quantization.type);
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  quantization.range = {low, high};
  // If all values have the same sign, the range of the other sign is not needed.
  const bool is_centred = is_symmetric && low < 0 && high > 0;
  const double steps = highest - lowest - (is_centred ? 1 : 0);
  const double width = is_centred ? 2 * std::max(-low, high) : high - low;
  const double scale = std::max<double>(width / steps, std::numeric_limits<float>::min());
  quantization.scale =
      width > 0 && scale < std::numeric_limits<float>::max() ? static_cast<float>(scale) : 1.0F;
  const double zero =
      is_centred ? (lowest + highest + 1) / 2 : std::nearbyint(lowest - low / quantization.scale);
  quantization.zero = static_cast<std::int32_t>(std::clamp<double>(zero, lowest, highest));
  return quantization;
}

ActivationQuantization choose_quantization(const calibration::Ranges& ranges, const std::string& name,
                                           const IntegerRecipe& recipe) {
  static const ValueOverride kNothing;
  const calibration::Statistics& statistics = ranges.values.at(name);
  const auto found = recipe.values.find(name);
  const ValueOverride& override = found == recipe.values.end() ? kNothing : found->second;
  const ActivationType type = override.type.value_or(recipe.activations);
  const CodeLimits limits = limits_of(element_type_of(type));
  const bool is_centred =
      recipe.symmetric_activations && statistics.minimum() < 0 && statistics.maximum() > 0;
  const calibration::CodeFormat format{limits.high - limits.low + 1, is_centred};
  const CalibrationMethod method = override.method.value_or(recipe.calibration);
  calibration::RangeChoice choice;
  if (override.range) {
    choice = {*override.range, method, 0, calibration::mean_square(statistics)};
  } else {
    choice = ranges.memo->choose(statistics, method, format, recipe.percentile);
  }
  ActivationQuantization quantization = make_quantization(choice.range, type, recipe.symmetric_activations);
  quantization.method = choice.method;
  // The configured range, extended to include zero. It differs from the observed range only if overridden.
  if (override.range) choice.noise = calibration::predicted_error(statistics, quantization.range, format);
  quantization.sqnr_db = choice.noise > 0 ? 10 * std::log10(choice.signal / choice.noise)
                                          : std::numeric_limits<double>::infinity();
  return quantization;
}

}  // namespace ounce::plan
