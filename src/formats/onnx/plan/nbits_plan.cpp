#include "formats/onnx/plan/nbits_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/plan.h"
#include "quant/blocks.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

// Small models lose the least with blocks of 32; 8 bits are fine for longer ones. A table's scales are 16-bit
// floats, so that blocks of half the size take no more.
constexpr std::size_t kFewBlock = 32, kTableBlock = 16, kByteBlock = 128, kLeastBlock = 16;

std::size_t block_of(const Recipe& recipe, unsigned bits, const NbitsUses& uses, std::size_t columns) {
  if (recipe.granularity.kind == GranularityKind::kBlock) return recipe.granularity.block;
  const bool is_table = uses.products.empty(), is_tied = !is_table && !uses.lookups.empty();
  std::size_t block = bits == 8 ? kByteBlock : is_table ? kTableBlock : kFewBlock;
  // Short rows are not filled up for nothing, and those of tied weights not at all.
  while (block > kLeastBlock && (block / 2 >= columns || (is_tied && columns % block != 0))) block /= 2;
  return block;
}

// The most careful one of the products. What was not measured gets the kernels that are fast.
int level_of(const graph::Index& index, const NbitsRecipe& recipe, const NbitsUses& uses) {
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
std::string why_no_qdq(const model::WeightSite& weight) {
  if (weight.type != ElementType::kFloat) return "DequantizeLinear gives float32 only";
  if (weight.op != Op::kMatMul && weight.op != Op::kGemm)
    return fmt::format("{} has no MatMulNBits kernel", weight.op_type);
  return {};
}

std::string why_no_rows(const NbitsUses& uses, const quant::BlockRows& rows, unsigned bits) {
  if (uses.lookups.empty()) return {};
  // A table has no room for padding.
  const std::size_t step = uses.products.empty() ? 8 / bits : rows.block;
  if (rows.columns % step == 0) return {};
  return fmt::format("{} columns are no multiple of {}", rows.columns, step);
}

}  // namespace

bool plan_nbits(const graph::Index& index, const Recipe& recipe, std::int64_t opset, Format format,
                Decision& decision) {
  const onnx::Tensor& tensor = *decision.place.tensor;
  const unsigned bits = info_of(format).weight_bits;
  const auto refuse = [&](const std::string& why) {
    decision.reason += fmt::format("; {}, so 8 bits without a kernel", why);
    return false;
  };
  if (tensor.dims.size() != 2) return refuse(fmt::format("{} axes are no matrix", tensor.dims.size()));
  const Encoding encoding = encoding_of(EncodingKind::kLinear, bits);
  if (recipe.nbits.dialect == NbitsDialect::kQdq) {
    if (const std::string why = why_no_qdq(decision.weight); !why.empty()) return refuse(why);
    decision.encoding = encoding;
    return true;
  }
  const bool is_half = tensor.type == ElementType::kFloat16;
  if (!is_half && tensor.type != ElementType::kFloat)
    return refuse(fmt::format("no kernel takes {}", name_of(tensor.type)));
  const NbitsUses uses = find_nbits_uses(index, *decision.place.value, opset);
  if (!uses.why_not.empty()) return refuse(uses.why_not);
  const bool is_table = uses.products.empty();
  const auto first = static_cast<std::size_t>(tensor.dims[0]),
             second = static_cast<std::size_t>(tensor.dims[1]);
  const std::size_t columns = uses.is_transposed ? first : second;
  const quant::BlockRows rows{uses.is_transposed ? second : first, columns,
                              block_of(recipe, bits, uses, columns), uses.is_transposed, !is_table};
  if (const std::string why = why_no_rows(uses, rows, bits); !why.empty()) return refuse(why);
  group_by_tensor(decision);
  shape_scales(decision);
  decision.encoding = encoding;
  decision.decoder = Decoder::kNbits;
  decision.granularity = GranularityKind::kBlock;
  decision.block = rows.block;
  decision.rows = rows;
  decision.format = quant::nbits_format(bits, !recipe.asymmetric);
  decision.format.half_scales = is_half || is_table;
  decision.scale = recipe.scale;
  decision.accuracy_level = is_table ? 0 : level_of(index, recipe.nbits, uses);
  decision.reason +=
      is_table ? "; rows are decoded as they are looked up" : "; multiplied with as it is stored";
  return true;
}

namespace {

constexpr std::int64_t kPlainGemmOpset = 7;  // until then an attribute said how C is spread
constexpr std::size_t kRight = 1;            // the input of a product that holds the weight

bool is_whole(const onnx::Node& node) { return node.outputs.size() == 1 && !node.outputs[0].empty(); }

bool is_plain_transpose(const onnx::Node& node) {
  if (node.op() != Op::kTranspose || !is_whole(node)) return false;
  if (onnx::find_attribute(node, "perm") == nullptr) return true;
  return onnx::integers_attribute(node, "perm") == std::vector<std::int64_t>{1, 0};
}

class UseSearch {
 public:
  UseSearch(const graph::Index& index, std::int64_t opset) : index_(index), opset_(opset) {}

  void follow(const graph::Value& value, bool is_turned) {
    for (const graph::Use& use : value.uses) {
      if (!found_.why_not.empty()) return;
      visit(use, is_turned);
    }
  }

  NbitsUses finish() {
    if (found_.why_not.empty() && found_.products.empty() && found_.lookups.empty())
      refuse("nothing multiplies with it");
    if (found_.why_not.empty() && !found_.lookups.empty() && direction_.value_or(false))
      refuse("it is looked up by rows and multiplied by columns");
    found_.is_transposed = direction_.value_or(false);
    return std::move(found_);
  }

 private:
  void refuse(std::string why) { found_.why_not = std::move(why); }

  void visit(const graph::Use& use, bool is_turned) {
    const onnx::Node& node = index_.node(use);
    const NodePlace place{use.body, use.node};
    if (!is_turned && is_row_lookup(node, use.input)) {
      found_.lookups.push_back(place);
    } else if (!is_turned && use.input == 0 && is_plain_transpose(node)) {
      turn(use, node);
    } else if (node.op() == Op::kMatMul && use.input == kRight && is_whole(node)) {
      add_product(place, !is_turned);
    } else if (node.op() == Op::kGemm && use.input == kRight && is_whole(node)) {
      add_gemm(place, node, is_turned);
    } else {
      refuse(fmt::format("{} has no MatMulNBits kernel", node.op_type()));
    }
  }

  void turn(const graph::Use& use, const onnx::Node& node) {
    const auto next = index_.find(use.body, node.outputs[0]);
    if (next.value == nullptr || next.value->is_output || next.value->uses.empty())
      return refuse("it is transposed for something else than a product");
    found_.transposes.push_back({use.body, use.node});
    follow(*next.value, true);
  }

  void add_gemm(const NodePlace& place, const onnx::Node& node, bool is_turned) {
    const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
    const auto is_right_turned = integer_setting(node, "transB", 0);
    const bool is_plain = integer_setting(node, "transA", 0) == 0 && is_right_turned &&
                          float_setting(node, "alpha", 1) == 1.0F &&
                          (!has_bias || float_setting(node, "beta", 1) == 1.0F);
    if (!is_plain) return refuse("its Gemm does more than multiply and add");
    if (opset_ < kPlainGemmOpset) return refuse(fmt::format("its Gemm is of opset {}", opset_));
    add_product(place, (*is_right_turned == 0) != is_turned);
  }

  // `by_columns`: the rows of the kernel are columns of the tensor.
  void add_product(const NodePlace& place, bool by_columns) {
    if (direction_.value_or(by_columns) != by_columns)
      return refuse("it is multiplied both by rows and by columns");
    direction_ = by_columns;
    found_.products.push_back(place);
  }

  const graph::Index& index_;
  const std::int64_t opset_;
  std::optional<bool> direction_;
  NbitsUses found_;
};

}  // namespace

NbitsUses find_nbits_uses(const graph::Index& index, const graph::Value& weight, std::int64_t opset) {
  UseSearch search(index, opset);
  search.follow(weight, false);
  return search.finish();
}

}  // namespace ounce::plan
