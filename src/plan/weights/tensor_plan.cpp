#include "plan/weights/tensor_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace ounce::plan {
namespace {

// The name of a stored type.
std::string type_name(Encoding encoding, bool is_unsigned) {
  switch (encoding.kind) {
    case EncodingKind::kLinear: return fmt::format("{}int{}", is_unsigned ? "u" : "", encoding.bits);
    case EncodingKind::kCodebook: return fmt::format("codebook{}", 1U << encoding.bits);
    case EncodingKind::kHalf: return name_of(StoredAs::kFloat16);
    case EncodingKind::kBfloat: return name_of(StoredAs::kBfloat16);
    case EncodingKind::kBias: return name_of(StoredAs::kInt32);
    case EncodingKind::kKeep: break;
  }
  return {};
}

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

Encoding encoding_of(EncodingKind kind, unsigned bits) {
  const Encoding encoding{kind, static_cast<std::uint8_t>(bits)};
  return stored_as(encoding, false) ? encoding : Encoding::kKeep;
}

std::optional<StoredAs> stored_as(Encoding encoding, bool is_unsigned) {
  return from_name<StoredAs>(type_name(encoding, is_unsigned));
}

unsigned bits_of(StoredAs stored) {
  const std::string_view name = name_of(stored);
  unsigned number = 0;
  for (const char letter : name.substr(name.find_first_of("0123456789")))
    number = number * 10 + static_cast<unsigned>(letter - '0');
  return name.starts_with("codebook") ? static_cast<unsigned>(std::bit_width(number)) - 1 : number;
}

std::string_view name_of(Encoding encoding) {
  const std::optional<StoredAs> stored = stored_as(encoding, false);
  return stored ? name_of(*stored) : "keep";
}

std::uint64_t stored_bytes(const TensorPlan& plan) {
  const std::uint64_t per_group = (plan.format.half_scales ? 2U : 4U) + (plan.format.is_symmetric ? 0U : 1U);
  const std::uint64_t packed = (plan.weight.values() * plan.bits() + 7) / 8;
  switch (plan.encoding.kind) {
    case EncodingKind::kLinear: return packed + plan.layout.groups() * per_group;
    case EncodingKind::kCodebook: return packed + (std::uint64_t{4} << plan.bits());
    case EncodingKind::kHalf:
    case EncodingKind::kBfloat:
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
