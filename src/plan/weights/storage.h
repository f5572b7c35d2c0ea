// The planner of the storage formats (w8, w4, w16): decides the encoding and granularity of each weight, with
// the reason. It sees weights only as model::WeightSite. Decisions that depend on the file format (how
// weights are dequantized, which opset is needed) are made by the format between these steps:
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
//   const kernels::Range whole = read_values(plan, floats, for_each);   // after all weights are planned
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

// Reasons to keep a weight unchanged; empty if there are none. why_all_bits(): its op may need full
// precision.
std::string why_keep(const model::WeightSite& weight, const Recipe& recipe,
                     const std::optional<StorageOverride>& override);
std::string why_all_bits(const model::WeightSite& weight, Format format);

// Stores the weight as 16-bit floats, or keeps one that already has 16 bits. Returns false if the weight
// should have less than 16 bits; the plan's reason then starts accordingly.
bool choose_half(TensorPlan& plan, const Recipe& recipe, const std::optional<StorageOverride>& override);
// Chooses linear quantization or a codebook with the bits of the format, or of its fallback if the file
// format does not support those.
void choose_codes(TensorPlan& plan, const Recipe& recipe, Format format, bool can_unpack);
void choose_groups(TensorPlan& plan, const Recipe& recipe);
// Sets stored_bytes.
void keep_if_not_smaller(TensorPlan& plan);

// Checks that depend on a tensor's values: all zero, not finite, or out of range.

// Tensors of at least this size get a digest when they are read, one per tile (quant/layout.h).
inline constexpr std::uint64_t kDigestFrom = std::uint64_t{1} << 20;
// float16 has a fixed step of 2^-24 near zero: a tensor whose largest value is below this loses precision.
inline constexpr float kSmallestHalfRange = 0x1p-11F;

// Records the ranges of the groups and the digest, and returns the range of the tensor. Throws
// Error{kBadInput} for a quantized weight with NaN or infinite values.
kernels::Range read_values(TensorPlan& plan, const quant::FloatSource& floats, const ForEach& for_each);
// Keeps a tensor whose values the encoding cannot represent.
void fit_to_values(TensorPlan& plan, const quant::FloatSource& floats, const kernels::Range& whole);
// Drops the ranges of small blocks, which would take too much memory; the writer computes them again.
void forget_many_ranges(TensorPlan& plan);

// Uses a share of `total` bytes to store the smallest of these weights as 16-bit floats.
void promote_smallest(std::vector<TensorPlan*> plans, std::uint64_t total, double share);

}  // namespace ounce::plan
