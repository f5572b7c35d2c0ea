// Checks the consistency of a recipe. All rules are in this file.
#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/recipe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "recipe/fields.h"
#include "recipe/format_info.h"
#include "target/coreml.h"
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

// Weight storage.
void validate_storage(const Recipe& recipe) {
  if (recipe.codebook && recipe.asymmetric) refuse("`codebook` has no zero points: remove `asymmetric`");
  const bool is_for_coreml = target::parse_coreml_target(recipe.target).has_value();
  if (recipe.codebook && has_groups(recipe) && !is_for_coreml)
    refuse(
        "`codebook` applies to whole tensors: remove `granularity`, or name a `target` such as ios18 for a "
        "Core ML model");
  if (recipe.memory != MemoryUse::kFast && recipe.decoder != DecoderChoice::kAuto)
    refuse("`memory` controls `decoder=auto`: use only one of them");
  const FormatInfo& format = info_of(recipe.format);
  const bool has_decoders = format.family == Family::kWeights && format.weight_bits <= 8;
  if (recipe.memory != MemoryUse::kFast && !has_decoders)
    refuse(fmt::format("`memory` applies to the formats w8 and w4, not to {}", name_of(recipe.format)));
  if (recipe.codebook && recipe.decoder == DecoderChoice::kDq)
    refuse("DequantizeLinear does not support codebooks: remove `decoder=dq`");
  const bool is_all_halves = recipe.format == weight_only(16) && recipe.nodes.empty();
  if (is_all_halves && (recipe.codebook || recipe.asymmetric || has_groups(recipe)))
    refuse("w16 stores floats: `codebook`, `asymmetric` and `granularity` do not apply");
}

// Packed weights for MatMulNBits.
void validate_nbits(const Recipe& recipe) {
  const NbitsRecipe& nbits = recipe.nbits;
  if (!reads(recipe, ReadBy::kNbits)) return;
  if (recipe.codebook) refuse("MatMulNBits kernels need linear quantization: remove `codebook`");
  if (!is_nbits(recipe.format)) {
    if (nbits.method > WeightMethod::kRtn || nbits.has_budget())
      refuse(
          "`nbits.method`, `nbits.bits` and `nbits.target_size` are for whole models: "
          "`format=nbits4`");
    return;
  }
  if (nbits.bits != 0 && nbits.target_size != 0)
    refuse("`nbits.bits` and `nbits.target_size` set the same budget: use only one of them");
  const Granularity& groups = recipe.granularity;
  if (recipe.decoder != DecoderChoice::kAuto)
    refuse("MatMulNBits kernels dequantize weights themselves: remove `decoder`");
  const bool is_nbits = nbits.dialect == NbitsDialect::kNbits;
  const bool is_whole = groups.kind == GranularityKind::kTensor || groups.kind == GranularityKind::kChannel;
  if (is_nbits && (is_whole || (groups.kind == GranularityKind::kBlock && groups.block < 16)))
    refuse("MatMulNBits kernels need blocks of 16, 32 … 256: use `granularity=block:32`");
  if (!is_nbits && nbits.accuracy_level != AccuracyLevel::kAuto)
    refuse("with `nbits.dialect=qdq` the app sets the accuracy level: remove `nbits.accuracy_level`");
  if (!is_nbits && !nbits.levels.empty())
    refuse("with `nbits.dialect=qdq` the app sets the accuracy level: remove `nbits.levels`");
  if (!is_nbits && (nbits.has_budget() || nbits.method > WeightMethod::kRtn))
    refuse("`nbits.method`, `nbits.bits` and `nbits.target_size` need `nbits.dialect=nbits`");
  if (!is_nbits && info_of(recipe.format).weight_bits == 2)
    refuse("DequantizeLinear has no 2-bit types: use `nbits.dialect=nbits`");
}

// FP16 and BF16 arithmetic.
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
                fmt::format("ONNX Runtime's {} provider has no bfloat16 kernels: use one that has them "
                            "(`target=cuda`), or use `format=w16`, which is as small and runs everywhere",
                            provider_of(recipe).name));
}

// Combinations that runtimes have kernels for.
void validate_integers(const Recipe& recipe) {
  const IntegerRecipe& integer = recipe.integer;
  if (!recipe.is_integer()) return;
  const bool has_no_ranges = is_dynamic(recipe.format);
  if (recipe.granularity.kind == GranularityKind::kBlock)
    refuse("integer kernels do not support blocks: use `granularity=channel` or tensor");
  if (recipe.codebook || recipe.asymmetric)
    refuse("integer kernels need symmetric linear quantization: remove `codebook` and `asymmetric`");
  if (integer.reduce_range.value_or(false) && integer.weights != WeightType::kS8)
    refuse("`integer.reduce_range` applies only to s8 weights: products of other types do not saturate");
  if (has_no_ranges && integer.weights == WeightType::kS4)
    refuse("`format=int8-dynamic` needs 8-bit weights: use `integer.weights=s8` or u8");
  if (has_no_ranges || integer.dialect == Dialect::kQdq) return;
  if (is_16_bit(integer.activations) || integer.weights == WeightType::kS4)
    refuse("integer ops have 8 bits: use `integer.dialect=qdq` for 16-bit activations and 4-bit weights");
  if (integer.activations == ActivationType::kS8 && integer.weights == WeightType::kU8)
    refuse("no runtime supports s8 activations with u8 weights: use `integer.weights=s8`");
  for (const auto& [name, value] : integer.values) {
    if (value.type.value_or(integer.activations) != integer.activations)
      refuse(
          "integer ops need one activation type: use `integer.dialect=qdq` to set types in `integer.values`");
  }
}

// Empty if a single node can have the format.
std::string why_not_mixed(const Recipe& recipe, Format format) {
  if (is_storage(format) || format == recipe.format) return {};
  if (is_half(format))
    return "16-bit arithmetic applies to whole models: use w16 to store a node's weights as 16-bit floats";
  if (!recipe.is_integer()) {
    return fmt::format("`format={}` runs in FP32: use `format=int8` for nodes in INT8",
                       name_of(recipe.format));
  }
  if (is_static(format))
    return "`format=int8-dynamic` has no static nodes: use `format=int8` and name the dynamic nodes";
  return {};
}

// Overrides for single nodes.
void validate_nodes(const Recipe& recipe) {
  if (recipe.format == kUnchanged)
    refuse("fp32 is a format for single nodes (`nodes`), not for a whole model");
  if (recipe.nodes.empty()) return;
  const bool is_fp16_remainder =
      recipe.is_integer() && recipe.integer.fp16_remainder && provider_of(recipe).computes_fp16;
  for (const auto& [name, format] : recipe.nodes) {
    if (is_fp16_remainder && format != weight_only(16))
      refuse(
          "`integer.fp16_remainder=true` converts all FP32 nodes on this target: remove "
          "`nodes`");
    if (recipe.is_half() && format != kUnchanged)
      refuse(fmt::format("{} converts the graph: single nodes can only be kept in fp32",
                         name_of(recipe.format)));
    if (const std::string why = why_not_mixed(recipe, format); !why.empty())
      refuse(fmt::format("`nodes` '{}={}': {}", name, name_of(format), why));
  }
}

void validate_rounding(const Recipe& recipe) {
  if (recipe.rounding != Rounding::kAdaptive) return;
  // quantize() refuses weight-only formats for other models than those of Core ML.
  const FormatInfo& format = info_of(recipe.format);
  if (format.family == Family::kWeights && format.weight_bits <= 8) return;
  if (!is_static(recipe.format))
    refuse("`rounding=adaptive` needs calibration data: use it with `format=int8` and `data`");
  const auto is_dynamic_node = [](const auto& entry) { return is_dynamic(entry.second); };
  if (std::any_of(recipe.nodes.begin(), recipe.nodes.end(), is_dynamic_node))
    refuse("`rounding=adaptive` applies only to static nodes: remove `nodes` NAME=int8-dynamic");
}

}  // namespace

void validate(const Recipe& recipe) {
  // Throws for unknown targets. quantize() reads a target of TFLite models when it knows the kind of model.
  if (!target::names_litert(recipe.target)) target::parse_target(recipe.target);
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
