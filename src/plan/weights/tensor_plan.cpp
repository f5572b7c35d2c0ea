#include "plan/weights/tensor_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace ounce::plan {
namespace {

constexpr auto kEncodings = std::to_array<EncodingInfo>({
    {Encoding::kKeep, "keep", EncodingKind::kKeep, 32, StoredAs::kInt32},
    {Encoding::kLinear8, "int8", EncodingKind::kLinear, 8, StoredAs::kInt8, StoredAs::kUint8},
    {Encoding::kLinear4, "int4", EncodingKind::kLinear, 4, StoredAs::kInt4, StoredAs::kUint4},
    {Encoding::kLinear2, "int2", EncodingKind::kLinear, 2, StoredAs::kInt2, StoredAs::kUint2},
    {Encoding::kCodebook8, "codebook256", EncodingKind::kCodebook, 8, StoredAs::kCodebook256},
    {Encoding::kCodebook4, "codebook16", EncodingKind::kCodebook, 4, StoredAs::kCodebook16},
    {Encoding::kFloat16, "float16", EncodingKind::kHalf, 16, StoredAs::kFloat16},
    {Encoding::kBfloat16, "bfloat16", EncodingKind::kHalf, 16, StoredAs::kBfloat16},
    {Encoding::kInt32, "int32", EncodingKind::kBias, 32, StoredAs::kInt32},
});

constexpr bool has_rows_in_order() {
  for (std::size_t i = 0; i < kEncodings.size(); ++i) {
    if (kEncodings[i].encoding != static_cast<Encoding>(i)) return false;
  }
  return true;
}
static_assert(has_rows_in_order());

// The sizes of a tensor before, inside and after its channel axes.
struct Extents {
  explicit Extents(const model::WeightSite& weight) {
    for (std::size_t i = 0; i < weight.dims.size(); ++i) {
      std::uint64_t& extent = i < weight.channels->first  ? before
                              : i < weight.channels->last ? channels
                                                          : after;
      extent *= static_cast<std::uint64_t>(weight.dims[i]);
    }
  }
  std::uint64_t before = 1, channels = 1, after = 1;
};

}  // namespace

const EncodingInfo& info_of(Encoding encoding) { return kEncodings[static_cast<std::size_t>(encoding)]; }

Encoding encoding_of(EncodingKind kind, unsigned bits) {
  const auto* const found = std::find_if(kEncodings.begin(), kEncodings.end(), [&](const EncodingInfo& row) {
    return row.kind == kind && row.bits == bits;
  });
  return found == kEncodings.end() ? Encoding::kKeep : found->encoding;
}

const EncodingInfo* find_encoding(StoredAs stored) {
  const auto* const found =
      std::find_if(kEncodings.begin() + 1, kEncodings.end(),
                   [&](const EncodingInfo& row) { return row.as == stored || row.as_unsigned == stored; });
  return found == kEncodings.end() ? nullptr : found;
}

std::string_view name_of(Encoding encoding) { return info_of(encoding).name; }

std::uint64_t stored_bytes(const TensorPlan& plan) {
  const std::uint64_t per_group = (plan.format.half_scales ? 2U : 4U) + (plan.format.is_symmetric ? 0U : 1U);
  const unsigned bits = info_of(plan.encoding).bits;
  const std::uint64_t packed = (plan.weight.values() * bits + 7) / 8;
  switch (info_of(plan.encoding).kind) {
    case EncodingKind::kLinear: return packed + plan.layout.groups() * per_group;
    case EncodingKind::kCodebook: return packed + (std::uint64_t{4} << bits);
    case EncodingKind::kHalf:
    case EncodingKind::kBias: return packed;
    case EncodingKind::kKeep: break;
  }
  return plan.weight.bytes();
}

std::string TensorPlan::granularity_text() const {
  if (granularity == GranularityKind::kTensor) return "tensor";
  if (granularity == GranularityKind::kBlock) return fmt::format("block {}", block);
  const ChannelAxes axes = weight.channels.value_or(ChannelAxes{0, 1});
  if (axes.last - axes.first == 1) return fmt::format("channel {}", axes.first);
  return fmt::format("channel {}-{}", axes.first, axes.last - 1);
}

std::string text_of(const TensorPlan& plan, const std::string& more) {
  const std::string tensor =
      fmt::format("{} {}[{}]", plan.weight.name, name_of(plan.weight.type), fmt::join(plan.weight.dims, ","));
  if (!plan.is_stored()) return fmt::format("{} -> keep: {}", tensor, plan.reason);
  return fmt::format("{} -> {} {} {}{}{}: {}", tensor, name_of(plan.encoding), plan.granularity_text(),
                     name_of(plan.decoder), plan.format.is_symmetric ? "" : " asymmetric", more, plan.reason);
}

void group_by_tensor(TensorPlan& plan) {
  plan.granularity = GranularityKind::kTensor;
  plan.layout = {1, 1, 1, static_cast<std::size_t>(plan.weight.values())};
}

void group_by_channel(TensorPlan& plan) {
  const Extents extents(plan.weight);
  plan.granularity = GranularityKind::kChannel;
  plan.layout = {1, extents.before, extents.channels, extents.after};
}

bool group_by_block(TensorPlan& plan, std::size_t block) {
  const Extents extents(plan.weight);
  if (extents.before == 1 && extents.after % block == 0) {
    plan.layout = {1, 1, extents.channels * extents.after / block, block};
  } else if (extents.after == 1 && extents.before % block == 0) {
    plan.layout = {extents.before / block, block, extents.channels, 1};
  } else {
    return false;
  }
  plan.granularity = GranularityKind::kBlock;
  plan.block = block;
  return true;
}

}  // namespace ounce::plan
