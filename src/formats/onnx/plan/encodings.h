// What is known about each encoding: one row per stored type.
#pragma once

#include <ounce/outcome.h>
#include <ounce/recipe.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/element_type.h"
#include "calibration/ranges.h"
#include "formats/onnx/plan/decision.h"

namespace ounce::plan {

enum class EncodingKind : std::uint8_t {
  kKeep,
  kLinear,    // a scale, and perhaps a zero point, for each group
  kCodebook,  // indices into a table of floats
  kHalf,      // 16-bit floats
  kBias,      // 32-bit sums of products
};

struct EncodingInfo {
  Encoding encoding;
  std::string_view name;
  EncodingKind kind;
  std::uint8_t bits;              // of one quantized value
  StoredAs as, as_unsigned = as;  // with zero points or unsigned values
};

const EncodingInfo& info_of(Encoding encoding);
// The encoding of `kind` with so many bits; kKeep if there is none.
Encoding encoding_of(EncodingKind kind, unsigned bits);
// Null for what no encoding is stored as.
const EncodingInfo* find_encoding(StoredAs stored);

// How the values of an activation become integers: a code c stands for (c - zero) * scale.

// How an activation is quantized: a code c stands for (c - zero) * scale.
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
