// Every rule about what can be asked for at once; nothing else refuses a recipe for itself.
#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/recipe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "recipe/fields.h"
#include "recipe/format_info.h"
#include "target/target.h"

namespace ounce {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kUsage, why); }

bool has_groups(const Recipe& recipe) {
  return recipe.granularity.kind == GranularityKind::kChannel ||
         recipe.granularity.kind == GranularityKind::kBlock;
}

const target::Provider& provider_of(const Recipe& recipe) {
  return *target::find_provider(target::parse_target(recipe.target).provider);
}

void validate_numbers(const Recipe& recipe) {
  const auto is_from = [](double value, double low, double high) { return value >= low && value <= high; };
  if (!is_from(recipe.fp16_budget, 0, 1))
    refuse(fmt::format("`fp16_budget` {} is not from 0 to 1", recipe.fp16_budget));
  if (!is_from(recipe.decode_share, 0, 1))
    refuse(fmt::format("`decode_share` {} is not from 0 to 1", recipe.decode_share));
  if (!is_from(recipe.integer.percentile, 50, 100))
    refuse(fmt::format("`integer.percentile` {} is not from 50 to 100", recipe.integer.percentile));
  const std::size_t block = recipe.granularity.block;
  const bool is_block_size = block >= 4 && block <= 256 && (block & (block - 1)) == 0;
  if (recipe.granularity.kind == GranularityKind::kBlock && !is_block_size)
    refuse(fmt::format("`granularity`: blocks have 4, 8, 16 … 256 elements, not {}", block));
  for (const auto& [name, value] : recipe.integer.values) {
    if (value.range && !(std::isfinite(value.range->low) && std::isfinite(value.range->high) &&
                         value.range->low <= value.range->high))
      refuse(fmt::format("`integer.values` '{}': {} to {} is no range", name, value.range->low,
                         value.range->high));
  }
}

// How weights are stored.
void validate_storage(const Recipe& recipe) {
  if (recipe.codebook && recipe.asymmetric) refuse("`codebook` has no zero points: leave out `asymmetric`");
  if (recipe.codebook && has_groups(recipe))
    refuse("`codebook` holds for a whole tensor: leave out `granularity`");
  if (recipe.memory != MemoryUse::kFast && recipe.decoder != DecoderChoice::kAuto)
    refuse("`memory` says what `decoder=auto` does: leave out one of them");
  const FormatInfo& format = info_of(recipe.format);
  const bool has_decoders = format.family == Family::kWeights && format.weight_bits <= 8;
  if (recipe.memory != MemoryUse::kFast && !has_decoders)
    refuse(fmt::format("`memory` is for the formats w8 and w4, not for {}", name_of(recipe.format)));
  if (recipe.codebook && recipe.decoder == DecoderChoice::kDq)
    refuse("DequantizeLinear cannot decode a codebook: leave out `decoder=dq`");
  const bool is_all_halves = recipe.format == weight_only(16) && recipe.nodes.empty();
  if (is_all_halves && (recipe.codebook || recipe.asymmetric || has_groups(recipe)))
    refuse("w16 stores floats: `codebook`, `asymmetric` and `granularity` do not apply");
}

// Packed weights in MatMulNBits.
void validate_nbits(const Recipe& recipe) {
  const NbitsRecipe& nbits = recipe.nbits;
  if (!reads(recipe, ReadBy::kNbits)) return;
  if (recipe.codebook) refuse("MatMulNBits kernels take linear codes: leave out `codebook`");
  if (!is_nbits(recipe.format)) {
    if (nbits.method > WeightMethod::kRtn || nbits.has_budget())
      refuse(
          "`nbits.method`, `nbits.bits` and `nbits.target_size` are for whole models: "
          "`format=nbits4`");
    return;
  }
  if (nbits.bits != 0 && nbits.target_size != 0)
    refuse("`nbits.bits` and `nbits.target_size` are two words for one budget: give one of them");
  const Granularity& groups = recipe.granularity;
  if (recipe.decoder != DecoderChoice::kAuto)
    refuse("MatMulNBits kernels decode by themselves: leave out `decoder`");
  const bool is_nbits = nbits.dialect == NbitsDialect::kNbits;
  const bool is_whole = groups.kind == GranularityKind::kTensor || groups.kind == GranularityKind::kChannel;
  if (is_nbits && (is_whole || (groups.kind == GranularityKind::kBlock && groups.block < 16)))
    refuse("MatMulNBits kernels take blocks of 16, 32 … 256: `granularity=block:32`");
  if (!is_nbits && nbits.accuracy_level != AccuracyLevel::kAuto)
    refuse("the app sets the level of `nbits.dialect=qdq`: leave out `nbits.accuracy_level`");
  if (!is_nbits && !nbits.levels.empty())
    refuse("the app sets the level of `nbits.dialect=qdq`: leave out `nbits.levels`");
  if (!is_nbits && (nbits.has_budget() || nbits.method > WeightMethod::kRtn))
    refuse("`nbits.method`, `nbits.bits` and `nbits.target_size` are for `nbits.dialect=nbits`");
  if (!is_nbits && info_of(recipe.format).weight_bits == 2)
    refuse("DequantizeLinear has no 2-bit types yet: `nbits.dialect=nbits`");
}

// Arithmetic on 16-bit floats.
void validate_halves(const Recipe& recipe) {
  if (!recipe.is_half()) return;
  const bool has_selection = !recipe.include.empty() || !recipe.exclude.empty();
  if (recipe.codebook || recipe.asymmetric || has_groups(recipe) || has_selection)
    refuse(
        "fp16 and bf16 convert the graph: `codebook`, `asymmetric`, `granularity`, `include` and `exclude` "
        "do "
        "not apply; `half.keep` leaves nodes out");
  if (info_of(recipe.format).arithmetic == Arithmetic::kBfloat16 && !provider_of(recipe).computes_bf16)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("ONNX Runtime's {} provider does not compute on bfloat16: name one that does "
                            "(`target=cuda`), or take `format=w16`, which is as small and runs everywhere",
                            provider_of(recipe).name));
}

// Combinations that runtimes have kernels for.
void validate_integers(const Recipe& recipe) {
  const IntegerRecipe& integer = recipe.integer;
  if (!recipe.is_integer()) return;
  const bool has_no_ranges = is_dynamic(recipe.format);
  if (recipe.granularity.kind == GranularityKind::kBlock)
    refuse("integer kernels know no blocks: `granularity=channel` or tensor");
  if (recipe.codebook || recipe.asymmetric)
    refuse("integer kernels take symmetric linear codes: leave out `codebook` and `asymmetric`");
  if (integer.reduce_range.value_or(false) && integer.weights != WeightType::kS8)
    refuse("`integer.reduce_range` is for s8 weights: the products of others do not saturate");
  if (has_no_ranges && integer.weights == WeightType::kS4)
    refuse("`format=int8-dynamic` takes 8-bit weights: `integer.weights=s8` or u8");
  if (has_no_ranges || integer.dialect == Dialect::kQdq) return;
  if (is_16_bit(integer.activations) || integer.weights == WeightType::kS4)
    refuse("integer ops are 8-bit: `integer.dialect=qdq` for 16-bit activations and 4-bit weights");
  if (integer.activations == ActivationType::kS8 && integer.weights == WeightType::kU8)
    refuse("no runtime multiplies s8 activations with u8 weights: `integer.weights=s8`");
  for (const auto& [name, value] : integer.values) {
    if (value.type.value_or(integer.activations) != integer.activations)
      refuse("integer ops take activations of one type: `integer.dialect=qdq` for `integer.values` types");
  }
}

// Empty when the format can be that of a node.
std::string why_not_mixed(const Recipe& recipe, Format format) {
  if (is_storage(format) || format == recipe.format) return {};
  if (is_half(format))
    return "16-bit arithmetic is for whole models: w16 stores a node's weights as 16-bit floats";
  if (!recipe.is_integer()) {
    return fmt::format("`format={}` computes on floats: take `format=int8` for nodes on integers",
                       name_of(recipe.format));
  }
  if (is_static(format))
    return "`format=int8-dynamic` has no static nodes: take `format=int8` and name the dynamic nodes";
  return {};
}

// Single nodes that are treated otherwise.
void validate_nodes(const Recipe& recipe) {
  if (recipe.format == kUnchanged) refuse("fp32 is a format of single nodes (`nodes`), not of a model");
  if (recipe.nodes.empty()) return;
  const bool is_fp16_remainder =
      recipe.is_integer() && recipe.integer.fp16_remainder && provider_of(recipe).computes_fp16;
  for (const auto& [name, format] : recipe.nodes) {
    if (is_fp16_remainder && format != weight_only(16))
      refuse(
          "`integer.fp16_remainder=true` converts all that is not integers on this target: leave out "
          "`nodes`");
    if (recipe.is_half() && format != kUnchanged)
      refuse(
          fmt::format("{} converts the graph: nodes can stay fp32 and nothing else", name_of(recipe.format)));
    if (const std::string why = why_not_mixed(recipe, format); !why.empty())
      refuse(fmt::format("`nodes` '{}={}': {}", name, name_of(format), why));
  }
}

void validate_rounding(const Recipe& recipe) {
  if (recipe.rounding != Rounding::kAdaptive) return;
  if (!is_static(recipe.format))
    refuse("`rounding=adaptive` looks at data: it is for `format=int8` with `data`");
  const auto is_dynamic_node = [](const auto& entry) { return is_dynamic(entry.second); };
  if (std::any_of(recipe.nodes.begin(), recipe.nodes.end(), is_dynamic_node))
    refuse("`rounding=adaptive` is for static nodes: leave out `nodes` NAME=int8-dynamic");
}

}  // namespace

void validate(const Recipe& recipe) {
  target::parse_target(recipe.target);  // or nobody knows it
  require_fields_are_read(recipe);
  validate_numbers(recipe);
  validate_storage(recipe);
  validate_nbits(recipe);
  validate_halves(recipe);
  validate_nodes(recipe);
  validate_rounding(recipe);
  validate_integers(recipe);
}

}  // namespace ounce
