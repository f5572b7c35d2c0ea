// Scale and zero point of each value that becomes codes.
//
//   x ─ CONV_2D ─ a ─ MAX_POOL_2D ─ b ┐
//   y ─ LOGISTIC ─ c ─────────────────┴ CONCATENATION ─ d
//
// Operators that only move values have one scale: a, b and d are a group, whose range holds that of each. A
// value with a range of its own (c: the scale of LOGISTIC is fixed) is requantized for the operator, and so
// is one that would lose more than a bit in the group and has other users.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibration/ranges.h"
#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/flow.h"
#include "formats/tflite/plan/integer_candidates.h"
#include "plan/encodings.h"

namespace ounce::tflite {

using plan::ActivationQuantization;

// An input of an operator: its position in both lists.
using OpInput = std::pair<std::size_t, std::size_t>;

struct Scales {
  std::vector<std::optional<ActivationQuantization>> codes;  // by tensor
  // What an operator takes in the place of `codes`.
  std::map<OpInput, ActivationQuantization> requantized;
  // Float constants that get one scale; of operators that move values, the scale of the others.
  std::map<OpInput, ActivationQuantization> numbers;

  const ActivationQuantization& of_input(const SubGraph& graph, std::size_t op, std::size_t input) const;
};

// `is_integer`: by operator; only those that have a kernel. `ranges`: of all values that these take and give.
Scales choose_scales(const Model& model, const Flow& flow, const std::vector<IntegerCandidate>& candidates,
                     const std::vector<bool>& is_integer, const calibration::Ranges& ranges,
                     const IntegerRecipe& recipe);

// Why an operator with a kernel cannot have these scales; empty if it can. `weight_scale`: the largest.
std::string why_not_scales(const Model& model, const IntegerCandidate& candidate, std::size_t op,
                           const Scales& scales, double weight_scale);

}  // namespace ounce::tflite
