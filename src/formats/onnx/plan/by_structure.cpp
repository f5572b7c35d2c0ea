#include "formats/onnx/plan/by_structure.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/onnx/plan/encodings.h"
#include "formats/onnx/plan/half_tensors.h"
#include "formats/onnx/plan/integer_weights.h"
#include "formats/onnx/plan/nbits_plan.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/half.h"
#include "quant/layout.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

constexpr std::uint64_t kLargestFold = std::uint64_t{1} << 30;  // runtimes fold a constant up to this size
constexpr std::size_t kDefaultBlock = 32;
constexpr std::int64_t kBroadcastOpset = 7;   // Mul broadcasts
constexpr std::int64_t kDqOpset = 10;         // DequantizeLinear
constexpr std::int64_t kDqChannelOpset = 13;  // DequantizeLinear with an axis
constexpr std::int64_t kDqBlockOpset = 21;    // … with blocks, and with 4-bit types
constexpr const char* kFolded = "; folded at load, FP32 speed";

quant::LinearFormat format_of(const Decision& decision, const Recipe& recipe) {
  if (decision.encoding == Encoding::kLinear4)
    return recipe.asymmetric ? quant::kAsymmetricNibble : quant::kSymmetricNibble;
  return recipe.asymmetric ? quant::kAsymmetricInt8 : quant::kSymmetricInt8;
}

bool can_have_pairs(const Decision& decision) {
  return decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric && !decision.view.empty() &&
         decision.view.back() % 2 == 0;
}

// The last axis becomes two, of which the last one is that of the pairs.
void split_into_pairs(Decision& decision) {
  decision.uses_pair_table = true;
  if (decision.scale_dims.empty()) return;
  const std::int64_t last = decision.scale_dims.back();
  decision.scale_dims.back() = last == 1 ? 1 : last / 2;
  decision.scale_dims.push_back(last == 1 ? 1 : 2);
}

}  // namespace

Decision StructurePlanner::decide(const Weight& weight) {
  Decision decision;
  decision.weight = weight;
  if (decide_integer(index_, decision, integer_, recipe_)) return decision;
  const std::string excluded =
      selection_.why_not(index_, weight);  // asked for every tensor: it notes matches
  const Wanted wanted = overrides_.storage(index_, weight);
  decision.reason = why_keep(weight, wanted);
  if (decision.reason.empty()) decision.reason = excluded;
  if (!decision.reason.empty()) return decision;
  const DecoderChoice choice = choose_encoding(decision, wanted);
  if (!decision.is_stored()) return decision;
  if (!decision.is_nbits()) {
    choose_groups(decision);
    choose_decoder(decision, choice);
  }
  decision.stored_bytes = stored_bytes(decision);
  if (decision.stored_bytes >= weight.tensor->byte_count()) {
    decision.reason = "codes and scales would not be smaller";
    decision.encoding = Encoding::kKeep;
  }
  return decision;
}

std::int64_t StructurePlanner::opset(const Weight& weight) const {
  const auto* function = index_.bodies()[index_.root(weight.body)].function;
  return onnx::opset_version(function != nullptr ? function->opset_imports : model_.proto->opset_imports, "");
}

std::string StructurePlanner::why_keep(const Weight& weight, const Wanted& wanted) const {
  if (wanted && wanted->format == kUnchanged) return "stays FP32, as asked for its node";
  const Format format = wanted ? wanted->format : recipe_.format;
  const std::uint64_t bytes = weight.tensor->byte_count();
  if (bytes < recipe_.min_bytes) return fmt::format("smaller than {} bytes", recipe_.min_bytes);
  if (weight.value->uses.empty()) return "nothing uses it";
  if (weight.feeds_quantized_op) return "belongs to an op that is quantized already";
  if (weight.value->is_output) return "is an output of the graph";
  if (weight.value->is_input && model_.proto->ir_version >= 4)
    return "is an input with a default value, and `keep_inputs=true` was asked for";
  if (weight.role == Role::kOther && (format != weight_only(16) || weight.tensor->dims.size() < 2)) {
    return fmt::format("feeds {}, which may need all bits", weight.op_type);
  }
  if (opset(weight) < kBroadcastOpset)
    return fmt::format("opset {} is too old to decode in (7 is needed)", opset(weight));
  return {};
}

// Returns what decoders the encoding leaves open.
DecoderChoice StructurePlanner::choose_encoding(Decision& decision, const Wanted& wanted) const {
  const Weight& weight = decision.weight;
  const Format format = wanted ? wanted->format : recipe_.format;
  const bool wants_half =
      format == weight_only(16) || (!wanted && recipe_.is_integer() && recipe_.integer.fp16_remainder);
  const char* const why = !wanted            ? ""
                          : wanted->is_asked ? ", as asked for its node"
                                             : ", as another of its nodes wants it";
  if (wants_half || !weight.fits_nbits()) {
    const bool is_half =
        weight.tensor->type == ElementType::kFloat16 || weight.tensor->type == ElementType::kBfloat16;
    decision.encoding = is_half ? Encoding::kKeep : Encoding::kFloat16;
    const char* what = weight.role == Role::kParameter ? "parameter"
                       : weight.fits_nbits()           ? "weight"
                                                       : "constant";
    decision.reason =
        is_half ? "has 16 bits already"
                : fmt::format("{} of {}, as 16-bit floats{}", what, weight.op_type, wants_half ? why : "");
    return recipe_.decoder;
  }
  decision.reason = fmt::format("weight of {}{}", weight.op_type, why);
  if (is_nbits(format) && plan_nbits(index_, recipe_, opset(weight), format, decision))
    return DecoderChoice::kDq;
  const FormatInfo& wanted = info_of(format);
  const bool can_unpack = opset(weight) >= wanted.opset;
  const bool is_as_wanted = wanted.family == Family::kWeights && can_unpack;
  const unsigned bits = info_of(is_as_wanted ? format : wanted.fallback).weight_bits;
  decision.encoding = encoding_of(recipe_.codebook ? EncodingKind::kCodebook : EncodingKind::kLinear, bits);
  if (!can_unpack) {
    decision.reason += fmt::format("; opset {} cannot unpack {} bits ({} is needed), so {}", opset(weight),
                                   wanted.weight_bits, wanted.opset, bits);
  }
  return recipe_.decoder;
}

void StructurePlanner::choose_groups(Decision& decision) const {
  decision.format = format_of(decision, recipe_);
  decision.scale = recipe_.scale;
  // The rows of a table are looked up, not summed.
  const bool is_summed = decision.weight.role == Role::kWeight && !decision.weight.is_looked_up;
  decision.kernel = recipe_.rounding == Rounding::kZeroSum && is_summed ? decision.weight.kernel_taps : 0;
  if (!decision.is_linear()) return group_by_tensor(decision);
  const auto& wanted = recipe_.granularity;
  const auto axes = decision.weight.channels;
  if (wanted.kind == GranularityKind::kTensor) return group_by_tensor(decision);
  if (!axes) {
    group_by_tensor(decision);
    decision.reason += ", no channel axis known";
    return;
  }
  // Four bits are too few for a whole channel: blocks, where they fit.
  const bool auto_block = wanted.kind == GranularityKind::kAuto && decision.encoding == Encoding::kLinear4;
  if (auto_block && group_by_block(decision, *axes, kDefaultBlock)) return;
  if (wanted.kind == GranularityKind::kBlock) {
    if (group_by_block(decision, *axes, wanted.block)) return;
    decision.reason += fmt::format(", blocks of {} do not fit its shape", wanted.block);
  }
  group_by_channel(decision, *axes);
}

// Empty when DequantizeLinear can decode this tensor.
std::string StructurePlanner::why_no_dq(const Decision& decision) const {
  const std::int64_t version = opset(decision.weight);
  if (!decision.is_linear()) return "DequantizeLinear decodes linear codes only";
  if (decision.weight.tensor->type != ElementType::kFloat) return "DequantizeLinear gives float32 only";
  // Runtimes push DequantizeLinear through ops that move values, and some get it wrong.
  if (decision.weight.is_moved) return "the weight is moved before it is used";
  const bool is_block = decision.granularity == GranularityKind::kBlock;
  std::int64_t needed = decision.granularity == GranularityKind::kTensor ? kDqOpset : kDqChannelOpset;
  if (is_block || decision.encoding == Encoding::kLinear4) needed = kDqBlockOpset;
  if (version < needed)
    return fmt::format("DequantizeLinear needs opset {}, the model has {}", needed, version);
  if (decision.granularity == GranularityKind::kChannel &&
      decision.weight.channels->last - decision.weight.channels->first > 1) {
    return "DequantizeLinear has one channel axis";
  }
  if (is_block && decision.weight.tensor->dims.size() != 2)
    return "DequantizeLinear's blocks need two axes here";
  return {};
}

void StructurePlanner::choose_decoder(Decision& decision, DecoderChoice choice) const {
  const bool fits_lookup = !decision.is_packed() && decision.granularity != GranularityKind::kBlock;
  if (decision.weight.is_looked_up && fits_lookup && choice == DecoderChoice::kAuto) {
    decision.decoder = Decoder::kLookup;
    decision.reason += "; rows are decoded after the lookup";
    return;
  }
  const std::string no_dq = why_no_dq(decision);
  const std::uint64_t decoded = decision.weight.tensor->element_count() * 4;
  const bool too_large = decoded > kLargestFold;
  if (choice == DecoderChoice::kFold || (choice == DecoderChoice::kAuto && !too_large) || !no_dq.empty()) {
    decision.decoder = Decoder::kFold;
    decision.reason += choice == DecoderChoice::kDq ? "; folded, as " + no_dq : kFolded;
    // Fewer and smaller values on the way, which runtimes hold all at once until the last weight is folded.
    if (choice == DecoderChoice::kAuto && can_have_pairs(decision)) split_into_pairs(decision);
    if (too_large) decision.reason += "; over 1 GiB, newer runtimes decode it at every inference";
    return;
  }
  decision.decoder = Decoder::kDq;
  decision.reason += too_large ? "; over 1 GiB, which runtimes do not fold" : "; DequantizeLinear, as asked";
  // Measured on MobileNetV2 (`ounce bench`): runtimes fuse it into these two, and run it anew each time
  // elsewhere.
  if (decision.weight.op != Op::kMatMul && decision.weight.op != Op::kGemm)
    decision.reason +=
        ", though it runs at every inference and keeps the op from packing its weight: 2 to 3 times slower";
  fit_to_dq(decision);
}

// Types and shapes as DequantizeLinear wants them.
void StructurePlanner::fit_to_dq(Decision& decision) const {
  if (decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric)
    decision.format = quant::kSymmetricInt4;
  if (decision.granularity == GranularityKind::kBlock) {  // it scales in the tensor's own shape
    decision.view = decision.weight.tensor->dims;
    decision.scale_dims = decision.view;
    decision.scale_dims[decision.block_axis()] /= static_cast<std::int64_t>(decision.block);
  } else if (decision.granularity == GranularityKind::kChannel) {
    decision.scale_dims = {static_cast<std::int64_t>(decision.layout.channels)};
  }
}

// Four bits that are bytes after loading: what shares a scale is a row of them, and half of the rows are the
// low halves of bytes.
bool StructurePlanner::can_have_rows(const Decision& decision) const {
  return decision.encoding == Encoding::kLinear4 && decision.format.is_symmetric &&
         decision.granularity != GranularityKind::kTensor && decision.layout.has_contiguous_groups() &&
         decision.layout.groups() % 2 == 0 && opset(decision.weight) >= kDqChannelOpset;
}

std::string StructurePlanner::why_no_run_decoding(const Decision& decision) const {
  if (decision.encoding != Encoding::kLinear4) return why_no_dq(decision);
  if (decision.weight.tensor->type != ElementType::kFloat) return "DequantizeLinear gives float32 only";
  if (decision.weight.is_moved) return "the weight is moved before it is used";
  return can_have_rows(decision) ? "" : "its scales do not belong to rows";
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
  decision.view = {rows, static_cast<std::int64_t>(decision.weight.tensor->element_count()) / rows};
  decision.scale_dims = {rows};
}

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
    if (!decision.weight.fits_nbits() && !decision.is_of_integer_op())
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
  const bool saves =
      decision.layout.groups() >= kHalfScalesFrom &&
      (decision.decoder != Decoder::kDq || decision.is_split_nibbles || decision.is_of_integer_op());
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
    if (!decision.weight.fits_nbits() && has_subnormal_halves(source.floats())) {
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
    decision->uses_pair_table = false;
    decision->stored_bytes = half_bytes;
    decision->granularity = GranularityKind::kTensor;
    decision->reason = fmt::format("weight of {}, so small that 16-bit floats cost next to nothing",
                                   decision->weight.op_type);
  }
}

}  // namespace ounce::plan
