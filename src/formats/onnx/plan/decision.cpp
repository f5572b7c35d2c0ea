#include "formats/onnx/plan/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/onnx/plan/encodings.h"

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

std::uint64_t stored_bytes(const Decision& decision) {
  if (decision.is_nbits()) {
    const quant::BlockRows& rows = decision.rows;
    return rows.code_bytes(decision.bits()) + rows.groups() * (decision.format.half_scales ? 2U : 4U) +
           (decision.format.is_symmetric ? 0U : rows.zero_bytes(decision.bits()));
  }
  const std::uint64_t count = decision.weight.tensor->element_count();
  const std::uint64_t groups = decision.layout.groups();
  const std::uint64_t per_group =
      (decision.format.half_scales ? 2U : 4U) + (decision.format.is_symmetric ? 0U : 1U);
  const unsigned bits = info_of(decision.encoding).bits;
  const std::uint64_t packed = (count * bits + 7) / 8;
  switch (info_of(decision.encoding).kind) {
    case EncodingKind::kLinear: return packed + groups * per_group;
    case EncodingKind::kCodebook: return packed + (std::uint64_t{4} << bits);
    case EncodingKind::kHalf:
    case EncodingKind::kBias: return packed;
    case EncodingKind::kKeep: break;
  }
  return decision.weight.tensor->byte_count();
}

unsigned Decision::bits() const { return info_of(encoding).bits; }

std::size_t Decision::block_axis() const { return layout.has_contiguous_groups() ? 1 : 0; }

std::string Decision::granularity_text() const {
  if (granularity == GranularityKind::kTensor) return "tensor";
  if (granularity == GranularityKind::kBlock) return fmt::format("block {}", block);
  const ChannelAxes axes = weight.channels.value_or(ChannelAxes{0, 1});
  if (axes.last - axes.first == 1) return fmt::format("channel {}", axes.first);
  return fmt::format("channel {}-{}", axes.first, axes.last - 1);
}

std::string_view name_of(Encoding encoding) { return info_of(encoding).name; }

}  // namespace ounce::plan
