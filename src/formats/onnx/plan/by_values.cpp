#include "formats/onnx/plan/by_values.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "formats/onnx/plan/half_tensors.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "quant/tiles.h"

namespace ounce::plan {
namespace {

// 16-bit floats have a fixed step of 2^-24 near zero: a tensor whose largest value is below this loses
// precision.
constexpr float kSmallestHalfRange = 0x1p-11F;
// Scales are normal numbers: of less than 256 of the smallest, codes hold little.
constexpr float kSmallestLinearRange = 256 * std::numeric_limits<float>::min();
constexpr std::size_t kHalfScalesFrom = 32;  // groups
constexpr std::size_t kMostRangesKept = std::size_t{1} << 18;

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

kernels::Range whole_range(const Decision& decision) {
  kernels::Range whole;
  for (const kernels::Range& range : decision.ranges) whole.merge(range);
  return whole;
}

}  // namespace

void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each) {
  const TensorSource source(model, *decision.weight.tensor);
  const quant::FloatSource& floats = source.floats();
  std::vector<Digest> digests;
  if (decision.weight.tensor->byte_count() >= kDigestFrom)
    digests.resize(quant::tile_count(floats, quant::kTile));
  const auto digest_tile = [&](std::size_t tile, std::size_t first, std::size_t count) {
    if (!digests.empty()) digests[tile] = digest_of(floats.bytes_of(first, count));
  };
  decision.ranges = quant::find_ranges(floats, decision.layout, for_each, digest_tile);
  if (!digests.empty()) decision.digest = digest_of(digests);
  const kernels::Range whole = whole_range(decision);
  const auto keep = [&](std::string reason) {
    decision.encoding = Encoding::kKeep;
    decision.reason = std::move(reason);
    decision.ranges.clear();
  };
  if (!whole.finite()) {
    if (!decision.weight.fits_few_bits() && !decision.is_of_integer_op())
      return keep("has NaN or infinite values");
    throw Error(
        ErrorCode::kBadInput,
        "a weight has NaN or infinite values; repair the model, or leave the tensor out with `exclude`",
        fmt::format("tensor '{}'", decision.weight.name));
  }
  if (decision.pairs.exist())
    quant::include_pairs(floats, decision.layout, decision.pairs, for_each, decision.ranges);
  // An integer op takes codes and nothing else.
  if (!decision.is_of_integer_op()) {
    if (whole.absmax() == 0) return keep("all values are zero");
    if (decision.is_linear() && whole.absmax() < kSmallestLinearRange)
      return keep(fmt::format("its values are too small for codes ({:g})", whole.absmax()));
  }
  // 16-bit scales of a table have to hold it.
  if (decision.is_nbits() && decision.weight.tensor->type == ElementType::kFloat &&
      (whole.absmax() > kLargestHalf || whole.absmax() < kSmallestHalfRange)) {
    decision.format.half_scales = false;
    decision.stored_bytes = stored_bytes(decision);
  }
  // A second Cast costs some 30 bytes, a 16-bit scale saves two.
  const bool saves = decision.layout.groups() >= kHalfScalesFrom &&
                     (decision.decoder != Decoder::kDq || decision.has_rows || decision.is_of_integer_op());
  if (decision.is_linear() && saves && !decision.is_nbits() &&
      quant::fits_half_scales(decision.ranges, decision.format)) {
    decision.format.half_scales = true;
    decision.stored_bytes = stored_bytes(decision);
  }
  if (decision.encoding == Encoding::kFloat16) {
    if (whole.absmax() > kLargestHalf) {
      return keep(fmt::format("its largest magnitude {:g} overflows 16-bit floats (65504)", whole.absmax()));
    }
    if (whole.absmax() < kSmallestHalfRange) return keep("its values are too small for 16-bit floats");
    // A weight may lose its smallest values, they drown in its sums; anything else may be divided by.
    if (!decision.weight.fits_few_bits() && has_subnormal_halves(source.floats())) {
      return keep("has values too small for 16-bit floats (6e-5)");
    }
  }
  // Small blocks have more ranges than a plan should hold; they are found again when the weight is written.
  if (decision.ranges.size() > kMostRangesKept && !decision.is_of_integer_op()) decision.ranges = {};
}

void promote_smallest(std::vector<Decision>& decisions, double share) {
  std::vector<Decision*> stored;
  std::uint64_t total = 0;
  for (Decision& decision : decisions) {
    total += decision.weight.tensor->byte_count();
    const bool is_float = decision.weight.tensor->type == ElementType::kFloat;
    const bool has_groups = decision.granularity != GranularityKind::kTensor && !decision.ranges.empty();
    if (decision.is_linear() && is_float && has_groups && decision.decoder == Decoder::kFold)
      stored.push_back(&decision);
  }
  std::stable_sort(stored.begin(), stored.end(), [](const Decision* a, const Decision* b) {
    return a->weight.tensor->byte_count() < b->weight.tensor->byte_count();
  });
  auto budget = share * static_cast<double>(total);
  for (Decision* decision : stored) {
    const std::uint64_t half_bytes = decision->weight.tensor->byte_count() / 2;
    const double cost = static_cast<double>(half_bytes) - static_cast<double>(decision->stored_bytes);
    if (cost > budget) return;
    const float largest = whole_range(*decision).absmax();
    if (largest > kLargestHalf || largest < kSmallestHalfRange) continue;
    budget -= std::max(cost, 0.0);
    decision->encoding = Encoding::kFloat16;
    decision->has_pairs = false;
    decision->stored_bytes = half_bytes;
    decision->granularity = GranularityKind::kTensor;
    decision->reason = fmt::format("weight of {}, so small that 16-bit floats cost next to nothing",
                                   decision->weight.op_type);
  }
}

}  // namespace ounce::plan
