#include "plan/few_bit_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "plan/few_bit_uses.h"
#include "plan/groups.h"
#include "quant/block_scales.h"

namespace ounce::plan {
namespace {

// Small models lose the least with blocks of 32; 8 bits are fine for longer ones. A table's scales are 16-bit
// floats, so that blocks of half the size take no more.
constexpr std::size_t kFewBlock = 32, kTableBlock = 16, kByteBlock = 128, kLeastBlock = 16;

unsigned bits_of(Format format) { return format == Format::kInt8 ? 8 : format == Format::kInt4 ? 4 : 2; }

std::size_t block_of(const Recipe& recipe, unsigned bits, const FewBitUses& uses, std::size_t columns) {
  if (recipe.granularity.kind == GranularityKind::kBlock) return recipe.granularity.block;
  const bool is_table = uses.products.empty(), is_tied = !is_table && !uses.lookups.empty();
  std::size_t block = bits == 8 ? kByteBlock : is_table ? kTableBlock : kFewBlock;
  // Short rows are not filled up for nothing, and those of tied weights not at all.
  while (block > kLeastBlock && (block / 2 >= columns || (is_tied && columns % block != 0))) block /= 2;
  return block;
}

// The most careful one of the products. What was not measured gets the kernels that are fast.
int level_of(const graph::Index& index, const FewBitsRecipe& recipe, const FewBitUses& uses) {
  const auto number = [](AccuracyLevel level) {
    if (level == AccuracyLevel::k0) return 0;
    return level == AccuracyLevel::k1 ? 1 : 4;
  };
  int lowest = number(recipe.accuracy_level);
  for (const NodePlace& place : uses.products) {
    const onnx::Node& node = *index.bodies()[place.body].nodes()[place.node];
    const auto own = recipe.levels.find(graph::value_path(index, place.body, node.outputs[0]));
    if (own != recipe.levels.end()) lowest = std::min(lowest, number(own->second));
  }
  return lowest;
}

// Empty when DequantizeLinear by blocks is fused into a kernel.
std::string why_no_qdq(const Weight& weight) {
  if (weight.tensor->type != ElementType::kFloat) return "DequantizeLinear gives float32 only";
  if (weight.op_type != "MatMul" && weight.op_type != "Gemm")
    return fmt::format("{} has no kernel for few bits", weight.op_type);
  return {};
}

std::string why_no_rows(const FewBitUses& uses, const quant::BlockRows& rows, unsigned bits) {
  if (uses.lookups.empty()) return {};
  // A table has no room for padding.
  const std::size_t step = uses.products.empty() ? 8 / bits : rows.block;
  if (rows.columns % step == 0) return {};
  return fmt::format("{} columns are no multiple of {}", rows.columns, step);
}

}  // namespace

bool plan_few_bits(const graph::Index& index, const Recipe& recipe, std::int64_t opset, Format format,
                   Decision& decision) {
  const onnx::Tensor& tensor = *decision.weight.tensor;
  const unsigned bits = bits_of(format);
  const auto refuse = [&](const std::string& why) {
    decision.reason += fmt::format("; {}, so 8 bits without a kernel", why);
    return false;
  };
  if (tensor.dims.size() != 2) return refuse(fmt::format("{} axes are no matrix", tensor.dims.size()));
  const Encoding encoding = bits == 8   ? Encoding::kLinear8
                            : bits == 4 ? Encoding::kLinear4
                                        : Encoding::kLinear2;
  if (recipe.few_bits.dialect == FewBitsDialect::kQdq) {
    if (const std::string why = why_no_qdq(decision.weight); !why.empty()) return refuse(why);
    decision.encoding = encoding;
    return true;
  }
  const bool is_half = tensor.type == ElementType::kFloat16;
  if (!is_half && tensor.type != ElementType::kFloat)
    return refuse(fmt::format("no kernel takes {}", name_of(tensor.type)));
  const FewBitUses uses = find_few_bit_uses(index, decision.weight, opset);
  if (!uses.why_not.empty()) return refuse(uses.why_not);
  const bool is_table = uses.products.empty();
  const auto first = static_cast<std::size_t>(tensor.dims[0]),
             second = static_cast<std::size_t>(tensor.dims[1]);
  const std::size_t columns = uses.is_transposed ? first : second;
  const quant::BlockRows rows{uses.is_transposed ? second : first, columns,
                              block_of(recipe, bits, uses, columns), uses.is_transposed, !is_table};
  if (const std::string why = why_no_rows(uses, rows, bits); !why.empty()) return refuse(why);
  group_by_tensor(decision);
  decision.encoding = encoding;
  decision.decoder = Decoder::kNbits;
  decision.granularity = GranularityKind::kBlock;
  decision.block = rows.block;
  decision.rows = rows;
  decision.format = quant::few_bits_format(bits, !recipe.asymmetric);
  decision.format.half_scales = is_half || is_table;
  decision.scale = recipe.scale;
  decision.accuracy_level = is_table ? 0 : level_of(index, recipe.few_bits, uses);
  decision.reason +=
      is_table ? "; rows are decoded as they are looked up" : "; multiplied with as it is stored";
  return true;
}

}  // namespace ounce::plan
