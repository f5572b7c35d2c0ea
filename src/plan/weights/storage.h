// The planner of the storage formats (w8, w4, w16): which encoding a weight gets, what shares a scale, and
// why. It sees weights as model::WeightSite; what depends on the file format (how codes become floats again,
// which opset is needed) is decided by the format between these steps:
//
//   TensorPlan plan{weight};
//   plan.reason = why_keep(weight, recipe, override);
//   if (plan.reason.empty()) plan.reason = why_all_bits(weight, format);
//   if (!plan.reason.empty()) return plan;
//   if (!choose_half(plan, recipe, override)) {
//     choose_codes(plan, recipe, format, can_unpack);
//     choose_groups(plan, recipe);
//   }
//   …                                                    // the decoder
//   keep_if_not_smaller(plan);
//   const kernels::Range whole = read_values(plan, floats, for_each);   // once all are planned
//   fit_to_values(plan, floats, whole);
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/thread_pool.h"
#include "kernels/range.h"
#include "plan/weights/selection.h"
#include "plan/weights/tensor_plan.h"
#include "quant/float_source.h"
#include "quant/layout.h"

namespace ounce::plan {

// Reasons to leave a weight as it is; empty where there is none. The second one: its op may need all bits.
std::string why_keep(const model::WeightSite& weight, const Recipe& recipe,
                     const std::optional<StorageOverride>& override);
std::string why_all_bits(const model::WeightSite& weight, Format format);

// Stores the weight as 16-bit floats, or leaves one that already has 16 bits; false when it is to have fewer
// bits, of which the reason then tells.
bool choose_half(TensorPlan& plan, const Recipe& recipe, const std::optional<StorageOverride>& override);
// Integer codes, or a codebook, with the bits of the format; where the file cannot hold those, with the bits
// of its fallback.
void choose_codes(TensorPlan& plan, const Recipe& recipe, Format format, bool can_unpack);
void choose_groups(TensorPlan& plan, const Recipe& recipe);
// Sets stored_bytes.
void keep_if_not_smaller(TensorPlan& plan);

// What only a tensor's values can tell: that there is nothing in them, that they are broken, that they do not
// fit.

// Tensors of at least so many bytes are digested as they are read, one digest a tile (quant/layout.h).
inline constexpr std::uint64_t kDigestFrom = std::uint64_t{1} << 20;
// 16-bit floats have a fixed step of 2^-24 near zero: a tensor whose largest value is below this loses
// precision.
inline constexpr float kSmallestHalfRange = 0x1p-11F;

// Notes the ranges of the groups and the digest, and gives the range of all. Throws Error{kBadInput} for a
// weight of few bits with NaN or infinite values.
kernels::Range read_values(TensorPlan& plan, const quant::FloatSource& floats, const ForEach& for_each);
// Keeps a tensor whose values the encoding cannot hold.
void fit_to_values(TensorPlan& plan, const quant::FloatSource& floats, const kernels::Range& whole);
// Small blocks have more ranges than a plan should hold; they are found again when the weight is written.
void forget_many_ranges(TensorPlan& plan);

// Spends a share of `total` bytes on 16-bit floats for the smallest of these weights.
void promote_smallest(std::vector<TensorPlan*> plans, std::uint64_t total, double share);

}  // namespace ounce::plan
