// How the values of an activation become integers: a code c stands for (c - zero) * scale.
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
  // Where it comes from.
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kAuto;
  double sqnr_db = 0;  // predicted, of the values themselves
};

// Chooses scale and zero for a range, which is widened to include zero. An empty range gets a harmless scale.
ActivationQuantization make_quantization(const ValueRange& range, ActivationType type, bool is_symmetric);

// Chooses them for an observed value by the recipe and its overrides.
ActivationQuantization choose_quantization(const calibration::Ranges& ranges, const std::string& name,
                                           const IntegerRecipe& recipe);

ElementType element_type_of(ActivationType type);
ActivationType activation_type_of(ElementType type);
// The smallest and the largest code.
struct CodeLimits {
  std::int32_t low, high;
};
CodeLimits limits_of(ElementType type);

}  // namespace ounce::plan
