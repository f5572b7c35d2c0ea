// Quantization parameters of activations: a quantized value q represents (q - zero) * scale.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <string>

#include "base/element_type.h"
#include "calibration/ranges.h"

namespace ounce::plan {

struct ActivationQuantization {
  ElementType type = ElementType::kUint8;
  float scale = 1;
  std::int32_t zero = 0;
  // Origin of the parameters.
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kAuto;
  double sqnr_db = 0;  // predicted SQNR of the value itself
};

// Computes scale and zero point for a range, which is extended to include zero. An empty range gets scale 1.
ActivationQuantization make_quantization(const ValueRange& range, ActivationType type, bool is_symmetric);

// Computes them for an observed value, with the recipe's calibration method and overrides.
ActivationQuantization choose_quantization(const calibration::Ranges& ranges, const std::string& name,
                                           const IntegerRecipe& recipe);

ElementType element_type_of(ActivationType type);
ActivationType activation_type_of(ElementType type);
// The range of quantized values.
struct CodeLimits {
  std::int32_t low, high;
};
CodeLimits limits_of(ElementType type);

}  // namespace ounce::plan
