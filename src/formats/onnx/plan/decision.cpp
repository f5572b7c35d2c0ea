#include "formats/onnx/plan/decision.h"

#include <fmt/format.h>

namespace ounce::plan {

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
  switch (decision.encoding) {
    case Encoding::kLinear8: return count + groups * per_group;
    case Encoding::kLinear4: return (count + 1) / 2 + groups * per_group;
    case Encoding::kLinear2: return (count + 3) / 4 + groups * per_group;
    case Encoding::kCodebook8: return count + 256 * 4;
    case Encoding::kCodebook4: return (count + 1) / 2 + 16 * 4;
    case Encoding::kFloat16:
    case Encoding::kBfloat16: return count * 2;
    case Encoding::kInt32: return count * 4;
    case Encoding::kKeep: break;
  }
  return decision.weight.tensor->byte_count();
}

unsigned Decision::bits() const {
  return encoding == Encoding::kLinear2 ? 2 : encoding == Encoding::kLinear4 ? 4 : 8;
}

std::size_t Decision::block_axis() const { return layout.has_contiguous_groups() ? 1 : 0; }

std::string Decision::granularity_text() const {
  if (granularity == GranularityKind::kTensor) return "tensor";
  if (granularity == GranularityKind::kBlock) return fmt::format("block {}", block);
  const ChannelAxes axes = weight.channels.value_or(ChannelAxes{0, 1});
  if (axes.last - axes.first == 1) return fmt::format("channel {}", axes.first);
  return fmt::format("channel {}-{}", axes.first, axes.last - 1);
}

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::kLinear8: return "int8";
    case Encoding::kLinear4: return "int4";
    case Encoding::kLinear2: return "int2";
    case Encoding::kCodebook8: return "codebook256";
    case Encoding::kCodebook4: return "codebook16";
    case Encoding::kFloat16: return "float16";
    case Encoding::kBfloat16: return "bfloat16";
    case Encoding::kInt32: return "int32";
    case Encoding::kKeep: break;
  }
  return "keep";
}

}  // namespace ounce::plan
