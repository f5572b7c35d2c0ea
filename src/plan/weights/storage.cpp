#include "plan/weights/storage.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "kernels/half.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

constexpr std::size_t kDefaultBlock = 32;
constexpr unsigned kFewBits = 4;
// Scales must be normal numbers: below 256 times the smallest one, quantized values lose precision.
constexpr float kSmallestLinearRange = 256 * std::numeric_limits<float>::min();
constexpr std::size_t kMostRangesKept = std::size_t{1} << 18;

Format format_of(const Recipe& recipe, const std::optional<StorageOverride>& override) {
  return override ? override->format : recipe.format;
}

const char* source_of(const std::optional<StorageOverride>& override) {
  if (!override) return "";
  return override->is_asked ? ", as requested for its node" : ", because another of its nodes needs it";
}

kernels::Range whole_of(const std::vector<kernels::Range>& ranges) {
  kernels::Range whole;
  for (const kernels::Range& range : ranges) whole.merge(range);
  return whole;
}

void keep(TensorPlan& plan, std::string reason) {
  plan.encoding = Encoding::kKeep;
  plan.reason = std::move(reason);
  plan.ranges.clear();
}

bool has_subnormal_halves(const quant::FloatSource& floats) {
  std::vector<float> scratch;
  std::vector<std::uint16_t> halves(std::min(quant::kTile, floats.size()));
  kernels::HalfStats stats;
  for (std::size_t first = 0; first < floats.size(); first += quant::kTile) {
    const std::size_t count = std::min(quant::kTile, floats.size() - first);
    kernels::f32_to_f16(floats.values(first, count, scratch), count, halves.data(), stats);
  }
  return stats.subnormal + stats.vanished != 0;
}

}  // namespace

std::string why_keep(const model::WeightSite& weight, const Recipe& recipe,
                     const std::optional<StorageOverride>& override) {
  if (override && override->format == kUnchanged) return "kept in FP32, as requested for its node";
  if (weight.bytes() < recipe.min_bytes) return fmt::format("smaller than {} bytes", recipe.min_bytes);
  if (!weight.is_used) return "is unused";
  if (weight.feeds_quantized_op) return "belongs to an op that is already quantized";
  return weight.is_output ? "is an output of the graph" : "";
}

std::string why_all_bits(const model::WeightSite& weight, Format format) {
  const bool is_table = format == weight_only(16) && weight.dims.size() >= 2;
  if (weight.role != Role::kOther || is_table) return {};
  return fmt::format("feeds {}, which may need full precision", weight.op_type);
}

bool choose_half(TensorPlan& plan, const Recipe& recipe, const std::optional<StorageOverride>& override) {
  const model::WeightSite& weight = plan.weight;
  const bool is_wanted = format_of(recipe, override) == weight_only(16) ||
                         (!override && recipe.is_integer() && recipe.integer.fp16_remainder);
  if (!is_wanted && weight.fits_nbits()) {
    plan.reason = fmt::format("weight of {}{}", weight.op_type, source_of(override));
    return false;
  }
  plan.encoding = weight.is_half() ? Encoding::kKeep : Encoding::kFloat16;
  const char* const what = weight.role == Role::kParameter ? "parameter"
                           : weight.fits_nbits()           ? "weight"
                                                           : "constant";
  plan.reason = weight.is_half() ? "already has 16 bits"
                                 : fmt::format("{} of {}, as 16-bit floats{}", what, weight.op_type,
                                               is_wanted ? source_of(override) : "");
  return true;
}

void choose_codes(TensorPlan& plan, const Recipe& recipe, Format format, bool can_unpack) {
  const FormatInfo& wanted = info_of(format);
  const bool is_as_wanted = wanted.family == Family::kWeights && can_unpack;
  const unsigned bits = info_of(is_as_wanted ? format : wanted.fallback).weight_bits;
  plan.encoding = encoding_of(recipe.codebook ? EncodingKind::kCodebook : EncodingKind::kLinear, bits);
}

void choose_groups(TensorPlan& plan, const Recipe& recipe) {
  plan.format = quant::linear_format(plan.is_linear() ? plan.bits() : 8, recipe.asymmetric);
  plan.scale = recipe.scale;
  // Rows of a table are looked up, not summed.
  const bool is_summed = plan.weight.role == Role::kWeight && !plan.weight.is_looked_up;
  plan.kernel = recipe.rounding == Rounding::kZeroSum && is_summed ? plan.weight.kernel_taps : 0;
  const Granularity& wanted = recipe.granularity;
  if (!plan.is_linear() || wanted.kind == GranularityKind::kTensor) return group_by_tensor(plan);
  if (!plan.weight.channels) {
    group_by_tensor(plan);
    plan.reason += ", its channel axis is unknown";
    return;
  }
  // 4 bits are not enough for whole channels, so use blocks if they match the shape.
  const bool has_few_bits = plan.bits() <= kFewBits;
  if (wanted.kind == GranularityKind::kAuto && has_few_bits && group_by_block(plan, kDefaultBlock)) return;
  if (wanted.kind == GranularityKind::kBlock) {
    if (group_by_block(plan, wanted.block)) return;
    plan.reason += fmt::format(", blocks of {} do not match its shape", wanted.block);
  }
  group_by_channel(plan);
}

void keep_if_not_smaller(TensorPlan& plan) {
  if (plan.stored_bytes < plan.weight.bytes()) return;
  plan.reason = "the quantized values and scales would not be smaller";
  plan.encoding = Encoding::kKeep;
}

kernels::Range read_values(TensorPlan& plan, const quant::FloatSource& floats, const ForEach& for_each) {
  std::vector<Digest> digests(plan.weight.bytes() >= kDigestFrom ? quant::tile_count(floats, quant::kTile)
                                                                 : 0);
  const auto digest_tile = [&](std::size_t tile, std::size_t first, std::size_t count) {
    if (!digests.empty()) digests[tile] = digest_of(floats.bytes_of(first, count));
  };
  plan.ranges = quant::find_ranges(floats, plan.layout, for_each, digest_tile);
  if (!digests.empty()) plan.digest = digest_of(digests);
  const kernels::Range whole = whole_of(plan.ranges);
  if (!whole.finite() && (plan.weight.fits_nbits() || plan.is_required)) {
    throw Error(
        ErrorCode::kBadInput,
        "a weight has NaN or infinite values; repair the model, or leave the tensor out with `exclude`",
        fmt::format("tensor '{}'", plan.weight.name));
  }
  return whole;
}

void fit_to_values(TensorPlan& plan, const quant::FloatSource& floats, const kernels::Range& whole) {
  if (!whole.finite()) return keep(plan, "has NaN or infinite values");
  if (!plan.is_required) {
    if (whole.absmax() == 0) return keep(plan, "all values are zero");
    if (plan.is_linear() && whole.absmax() < kSmallestLinearRange)
      return keep(plan, fmt::format("its values are too small to quantize ({:g})", whole.absmax()));
  }
  if (plan.encoding != Encoding::kFloat16) return;
  if (whole.absmax() > kernels::kLargestHalf) {
    return keep(plan,
                fmt::format("its largest magnitude {:g} overflows 16-bit floats (65504)", whole.absmax()));
  }
  if (whole.absmax() < kSmallestHalfRange) return keep(plan, "its values are too small for 16-bit floats");
  // The smallest values of a weight have no effect in sums; any other tensor may be a divisor.
  if (!plan.weight.fits_nbits() && has_subnormal_halves(floats))
    keep(plan, "has values too small for 16-bit floats (6e-5)");
}

void forget_many_ranges(TensorPlan& plan) {
  if (plan.ranges.size() > kMostRangesKept && !plan.is_required) plan.ranges = {};
}

void promote_smallest(std::vector<TensorPlan*> plans, std::uint64_t total, double share) {
  std::erase_if(plans, [](const TensorPlan* plan) {
    return !plan->is_linear() || plan->weight.type != ElementType::kFloat || plan->ranges.empty() ||
           plan->granularity == GranularityKind::kTensor;
  });
  std::stable_sort(plans.begin(), plans.end(), [](const TensorPlan* a, const TensorPlan* b) {
    return a->weight.bytes() < b->weight.bytes();
  });
  auto budget = share * static_cast<double>(total);
  for (TensorPlan* plan : plans) {
    const std::uint64_t half_bytes = plan->weight.bytes() / 2;
    const double cost = static_cast<double>(half_bytes) - static_cast<double>(plan->stored_bytes);
    if (cost > budget) return;
    const float largest = whole_of(plan->ranges).absmax();
    if (largest > kernels::kLargestHalf || largest < kSmallestHalfRange) continue;
    budget -= std::max(cost, 0.0);
    plan->encoding = Encoding::kFloat16;
    plan->stored_bytes = half_bytes;
    plan->granularity = GranularityKind::kTensor;
    plan->reason =
        fmt::format("weight of {}, so small that 16-bit floats cost almost nothing", plan->weight.op_type);
  }
}

}  // namespace ounce::plan
