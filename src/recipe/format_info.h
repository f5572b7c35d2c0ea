// What is known about each format: one row per format. Code that depends on the format queries its row, so
// that a new format is a new row.
//
//   if (info_of(recipe.format).needs_data) …
//   recipe.format = weight_only(8);                          // the format w8
//   recipe.format = format_with(Arithmetic::kStatic);
//   for (const FormatInfo& format : all_formats()) …
#pragma once

#include <ounce/outcome.h>
#include <ounce/recipe.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/model_kind.h"

namespace ounce {

// Formats of a family share their planner.
enum class Family : std::uint8_t {
  kWeights,  // weights are compressed, arithmetic is FP32
  kNbits,    // MatMulNBits kernels multiply with packed weights
  kInteger,  // INT8 arithmetic
  kHalf,     // FP16 or BF16 arithmetic
  kNone,     // nothing is changed
};

// When `tune` tries a format.
enum class SearchStage : std::uint8_t {
  kSafe,   // first: it seldom fails
  kUsual,  // then: the formats that make models faster
  kRare,   // at last: seldom the best on a CPU
  kNever,
};

struct FormatInfo {
  Format format;
  std::string_view label;  // in the terms of the field; display_name() adds the bits
  std::string_view help;   // a clause: what is stored, and what computes
  Family family;
  Arithmetic arithmetic = Arithmetic::kFloat;  // of layers that have kernels for it
  std::uint8_t weight_bits;
  std::uint8_t activation_bits = 32;
  double typical_size;      // share of the bytes of FP32
  double assumed_time = 1;  // share of a layer's time in FP32, where nothing is timed
  double making_time = 1;   // of quantize(), where that of w8 is 1
  bool needs_data = false;  // to calibrate on
  bool for_single_nodes = false;
  std::int64_t opset = 0;  // of the model; models of an older one take `fallback`, or their opset is raised
  Format fallback;         // of tensors and nodes that the format cannot be applied to
  SearchStage stage = SearchStage::kNever;
  ModelKinds kinds = model_kinds(ModelKind::kOnnx);  // of models that can be quantized to it
};

// In the order in which a search tries formats of one stage.
std::span<const FormatInfo> all_formats();
const FormatInfo& info_of(Format format);

// An unchanged node or tensor.
inline constexpr Format kUnchanged = Format::kFp32;
// The format that compresses weights to so many bits and computes in FP32; kUnchanged if there is none.
Format weight_only(unsigned bits);
// The same for kernels that multiply with such weights.
Format nbits(unsigned bits);
// The format whose layers compute so. `arithmetic` is not kFloat, which many formats share.
Format format_with(Arithmetic arithmetic);
std::vector<Format> formats_of(Family family);
// The format of the same family with the next larger number of bits; `format` itself if it has the most.
Format wider(Format format);

// "INT8 static, W8A8", "8-bit weights, W8A32": W has the bits of weights, A those of the activations that
// layers compute with.
std::string display_name(Format format);
// "int8 (INT8 static, W8A8)"
std::string name_and_label(Format format);

inline bool is_integer(Format format) { return info_of(format).family == Family::kInteger; }
inline bool is_half(Format format) { return info_of(format).family == Family::kHalf; }
inline bool is_static(Format format) { return info_of(format).arithmetic == Arithmetic::kStatic; }
inline bool is_dynamic(Format format) { return info_of(format).arithmetic == Arithmetic::kDynamic; }
// Empty, or a sentence for a model of another kind: "is a TFLite model, which cannot be quantized to int4".
std::string why_not_for(ModelKind kind, Format format);
// Can the error that a single layer makes be measured by `sensitivity`?
bool has_layer_errors(Format format);

}  // namespace ounce
