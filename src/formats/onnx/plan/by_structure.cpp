#include "formats/onnx/plan/by_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/half_tensors.h"
#include "formats/onnx/plan/integer_weights.h"
#include "formats/onnx/plan/plan.h"
#include "quant/blocks.h"
#include "quant/layout.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

constexpr std::uint64_t kLargestFold = std::uint64_t{1} << 30;  // runtimes fold constants up to this size
constexpr std::int64_t kBroadcastOpset = 7;                     // Mul broadcasts
constexpr std::int64_t kDqOpset = 10;                           // DequantizeLinear
constexpr std::int64_t kDqChannelOpset = 13;                    // DequantizeLinear with an axis
constexpr std::int64_t kDqBlockOpset = 21;                      // with blocks, and with 4-bit types
constexpr const char* kFolded = "; folded at load, FP32 speed";

bool can_have_pairs(const Decision& decision) {
  return decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric && !decision.view.empty() &&
         decision.view.back() % 2 == 0;
}

// Splits the last axis into two; the new last axis has length 2, for the pairs.
void split_into_pairs(Decision& decision) {
  decision.uses_pair_table = true;
  if (decision.scale_dims.empty()) return;
  const std::int64_t last = decision.scale_dims.back();
  decision.scale_dims.back() = last == 1 ? 1 : last / 2;
  decision.scale_dims.push_back(last == 1 ? 1 : 2);
}

}  // namespace

Decision StructurePlanner::decide(const Weight& weight) {
  Decision decision(weight);
  if (decide_integer(index_, decision, integer_, recipe_)) return decision;
  const std::string excluded = selection_.why_not(texts_of(index_, weight));  // also records matches
  const std::optional<StorageOverride> wanted = overrides_.storage(index_, weight);
  decision.reason = why_as_it_is(weight, wanted);
  if (decision.reason.empty()) decision.reason = excluded;
  if (!decision.reason.empty()) return decision;
  const DecoderChoice choice = choose_encoding(decision, wanted);
  if (!decision.is_stored()) return decision;
  if (!decision.is_nbits()) {
    choose_groups(decision, recipe_);
    shape_scales(decision);
    choose_decoder(decision, choice);
  }
  decision.stored_bytes = stored_bytes(decision);
  keep_if_not_smaller(decision);
  return decision;
}

std::int64_t StructurePlanner::opset(const model::WeightSite& weight) const {
  const auto* function = index_.bodies()[index_.root(weight.graph)].function;
  return onnx::opset_version(function != nullptr ? function->opset_imports : model_.proto->opset_imports, "");
}

std::string StructurePlanner::why_as_it_is(const Weight& weight,
                                           const std::optional<StorageOverride>& wanted) const {
  if (std::string why = why_keep(weight, recipe_, wanted); !why.empty()) return why;
  if (weight.value->is_input && model_.proto->ir_version >= 4)
    return "is an input with a default value, which `keep_inputs=true` keeps";
  if (std::string why = why_all_bits(weight, wanted ? wanted->format : recipe_.format); !why.empty())
    return why;
  if (opset(weight) < kBroadcastOpset)
    return fmt::format("opset {} is too old for dequantization (7 is required)", opset(weight));
  return {};
}

// Returns the decoder choices that the encoding leaves open.
DecoderChoice StructurePlanner::choose_encoding(Decision& decision,
                                                const std::optional<StorageOverride>& wanted) const {
  if (choose_half(decision, recipe_, wanted)) return recipe_.decoder;
  const Format format = wanted ? wanted->format : recipe_.format;
  const std::int64_t version = opset(decision.weight);
  if (is_nbits(format) && plan_nbits(index_, recipe_, version, format, decision)) return DecoderChoice::kDq;
  const FormatInfo& row = info_of(format);
  choose_codes(decision, recipe_, format, version >= row.opset);
  if (version < row.opset) {
    decision.reason += fmt::format("; opset {} cannot unpack {} bits ({} is needed), so {}", version,
                                   row.weight_bits, row.opset, decision.bits());
  }
  return recipe_.decoder;
}

// Empty if DequantizeLinear can dequantize this tensor.
std::string StructurePlanner::why_no_dq(const Decision& decision) const {
  const std::int64_t version = opset(decision.weight);
  if (!decision.is_linear()) return "DequantizeLinear supports only linear quantization";
  if (decision.is_packed() && decision.encoding != Encoding::kLinear4)
    return "DequantizeLinear supports only 8 and 4 bits";
  if (decision.weight.type != ElementType::kFloat) return "DequantizeLinear outputs only float32";
  // Runtimes move DequantizeLinear through ops that move values, and some do so incorrectly.
  if (decision.weight.is_moved) return "the weight is moved before it is used";
  const bool is_block = decision.granularity == GranularityKind::kBlock;
  std::int64_t needed = decision.granularity == GranularityKind::kTensor ? kDqOpset : kDqChannelOpset;
  if (is_block || decision.encoding == Encoding::kLinear4) needed = kDqBlockOpset;
  if (version < needed)
    return fmt::format("DequantizeLinear needs opset {}, the model has {}", needed, version);
  if (decision.granularity == GranularityKind::kChannel &&
      decision.weight.channels->last - decision.weight.channels->first > 1) {
    return "DequantizeLinear supports only one channel axis";
  }
  if (is_block && decision.weight.dims.size() != 2)
    return "blocks in DequantizeLinear need a weight with two axes";
  return {};
}

void StructurePlanner::choose_decoder(Decision& decision, DecoderChoice choice) const {
  const bool fits_lookup = !decision.is_packed() && decision.granularity != GranularityKind::kBlock;
  if (decision.weight.is_looked_up && fits_lookup && choice == DecoderChoice::kAuto) {
    decision.decoder = Decoder::kLookup;
    decision.reason += "; rows are dequantized after the lookup";
    return;
  }
  const std::string no_dq = why_no_dq(decision);
  const std::uint64_t decoded = decision.weight.values() * 4;
  const bool too_large = decoded > kLargestFold;
  if (choice == DecoderChoice::kFold || (choice == DecoderChoice::kAuto && !too_large) || !no_dq.empty()) {
    decision.decoder = Decoder::kFold;
    decision.reason += choice == DecoderChoice::kDq ? "; folded, because " + no_dq : kFolded;
    // Pairs have fewer and smaller intermediate values, all of which runtimes keep until the last weight is
    // folded.
    if (choice == DecoderChoice::kAuto && can_have_pairs(decision)) split_into_pairs(decision);
    if (too_large) decision.reason += "; over 1 GiB: newer runtimes dequantize it on every run";
    return;
  }
  decision.decoder = Decoder::kDq;
  decision.reason += too_large ? "; over 1 GiB: runtimes do not fold it" : "; DequantizeLinear, as requested";
  // Measured on MobileNetV2 (`ounce bench`): runtimes fuse DequantizeLinear into these two ops, and run it
  // every time for others.
  if (decision.weight.op != Op::kMatMul && decision.weight.op != Op::kGemm)
    decision.reason += "; it runs on every inference and prevents weight prepacking: 2 to 3 times slower";
  fit_to_dq(decision);
}

// Adapts types and shapes to DequantizeLinear.
void StructurePlanner::fit_to_dq(Decision& decision) const {
  if (decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric)
    decision.format = quant::kSymmetricInt4;
  if (decision.granularity == GranularityKind::kBlock) {  // it scales in the tensor's own shape
    decision.view = decision.weight.dims;
    decision.scale_dims = decision.view;
    decision.scale_dims[decision.block_axis()] /= static_cast<std::int64_t>(decision.block);
  } else if (decision.granularity == GranularityKind::kChannel) {
    decision.scale_dims = {static_cast<std::int64_t>(decision.layout.channels)};
  }
}

// 4-bit weights that are unpacked to bytes at load: each group is a row, and half of the rows are the low
// nibbles.
bool StructurePlanner::can_have_rows(const Decision& decision) const {
  return decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric &&
         decision.granularity != GranularityKind::kTensor && decision.layout.has_contiguous_groups() &&
         decision.layout.groups() % 2 == 0 && opset(decision.weight) >= kDqChannelOpset;
}

std::string StructurePlanner::why_no_run_decoding(const Decision& decision) const {
  if (decision.encoding != Encoding::kLinear4) return why_no_dq(decision);
  if (decision.weight.type != ElementType::kFloat) return "DequantizeLinear outputs only float32";
  if (decision.weight.is_moved) return "the weight is moved before it is used";
  return can_have_rows(decision) ? "" : "its scales are not per row";
}

void StructurePlanner::decode_at_runs(Decision& decision, const std::string& reason) const {
  if (decision.reason.ends_with(kFolded))
    decision.reason.resize(decision.reason.size() - std::strlen(kFolded));
  decision.reason += "; " + reason;
  decision.decoder = Decoder::kDq;
  if (decision.encoding != Encoding::kLinear4) return fit_to_dq(decision);
  decision.uses_pair_table = false;
  decision.is_split_nibbles = true;
  const auto rows = static_cast<std::int64_t>(decision.layout.groups());
  decision.view = {rows, static_cast<std::int64_t>(decision.weight.values()) / rows};
  decision.scale_dims = {rows};
}

void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each) {
  constexpr std::size_t kHalfScalesFrom = 32;  // groups
  const TensorSource source(model, *decision.place.tensor);
  const quant::FloatSource& floats = source.floats();
  const kernels::Range whole = read_values(decision, floats, for_each);
  if (decision.pairs.exist())
    quant::include_pairs(floats, decision.layout, decision.pairs, for_each, decision.ranges);
  fit_to_values(decision, floats, whole);
  const auto scale_in = [&](bool halves) {
    decision.format.half_scales = halves;
    decision.stored_bytes = stored_bytes(decision);
  };
  if (decision.is_nbits()) {
    // The 16-bit scales of a table must be able to represent the range.
    if (decision.weight.type == ElementType::kFloat &&
        (whole.absmax() > kLargestHalf || whole.absmax() < kSmallestHalfRange))
      scale_in(false);
  } else if (decision.is_linear() && decision.layout.groups() >= kHalfScalesFrom) {
    // A second Cast adds some 30 bytes; a 16-bit scale saves two.
    const bool saves =
        decision.decoder != Decoder::kDq || decision.is_split_nibbles || decision.is_of_integer_op();
    if (saves && quant::fits_half_scales(decision.ranges, decision.format)) scale_in(true);
  }
  forget_many_ranges(decision);
}

namespace {

// Small models lose the least accuracy with blocks of 32; 8-bit weights can use longer blocks. The scales of
// a table are 16-bit floats, so blocks of half the size take no more memory.
constexpr std::size_t kFewBlock = 32, kTableBlock = 16, kByteBlock = 128, kLeastBlock = 16;

std::size_t block_of(const Recipe& recipe, unsigned bits, const NbitsUses& uses, std::size_t columns) {
  if (recipe.granularity.kind == GranularityKind::kBlock) return recipe.granularity.block;
  const bool is_table = uses.products.empty(), is_tied = !is_table && !uses.lookups.empty();
  std::size_t block = bits == 8 ? kByteBlock : is_table ? kTableBlock : kFewBlock;
  // Avoid padding of short rows; rows of tied weights must not be padded at all.
  while (block > kLeastBlock && (block / 2 >= columns || (is_tied && columns % block != 0))) block /= 2;
  return block;
}

// The most precise level among the products. Products without a measured level get the fast kernels.
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

// Empty if runtimes fuse a block-wise DequantizeLinear into a kernel.
std::string why_no_qdq(const model::WeightSite& weight) {
  if (weight.type != ElementType::kFloat) return "DequantizeLinear outputs only float32";
  if (weight.op != Op::kMatMul && weight.op != Op::kGemm)
    return fmt::format("{} has no MatMulNBits kernel", weight.op_type);
  return {};
}

std::string why_no_rows(const NbitsUses& uses, const quant::BlockRows& rows, unsigned bits) {
  if (uses.lookups.empty()) return {};
  // Tables cannot be padded.
  const std::size_t step = uses.products.empty() ? 8 / bits : rows.block;
  if (rows.columns % step == 0) return {};
  return fmt::format("{} columns are not a multiple of {}", rows.columns, step);
}

}  // namespace

bool plan_nbits(const graph::Index& index, const Recipe& recipe, std::int64_t opset, Format format,
                Decision& decision) {
  const onnx::Tensor& tensor = *decision.place.tensor;
  const unsigned bits = info_of(format).weight_bits;
  const auto refuse = [&](const std::string& why) {
    decision.reason += fmt::format("; {}, so it is stored in 8 bits without MatMulNBits", why);
    return false;
  };
  if (tensor.dims.size() != 2) return refuse(fmt::format("{} axes instead of 2", tensor.dims.size()));
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
      is_table ? "; rows are dequantized during the lookup" : "; the kernel uses the stored form";
  return true;
}

namespace {

constexpr std::int64_t kPlainGemmOpset = 7;  // earlier versions control the broadcast of C by an attribute
constexpr std::size_t kRight = 1;            // the product's input for the weight

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
      refuse("no product uses it");
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
      return refuse("its transpose is used by other ops than products");
    found_.transposes.push_back({use.body, use.node});
    follow(*next.value, true);
  }

  void add_gemm(const NodePlace& place, const onnx::Node& node, bool is_turned) {
    const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
    const auto is_right_turned = integer_setting(node, "transB", 0);
    const bool is_plain = integer_setting(node, "transA", 0) == 0 && is_right_turned &&
                          float_setting(node, "alpha", 1) == 1.0F &&
                          (!has_bias || float_setting(node, "beta", 1) == 1.0F);
    if (!is_plain) return refuse("its Gemm has transA, alpha or beta");
    if (opset_ < kPlainGemmOpset) return refuse(fmt::format("its Gemm is from opset {}", opset_));
    add_product(place, (*is_right_turned == 0) != is_turned);
  }

  // `by_columns`: the rows of the kernel are the columns of the tensor.
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
