// Properties of the formats: one row per format. Code queries the row instead of comparing formats, so that
// adding a format means adding a row.
//
//   if (info_of(recipe.format).needs_data) …
//   recipe.format = weight_only(8);                          // the format w8
//   recipe.format = format_with(Arithmetic::kStatic);
//   for (const FormatInfo& format : all_formats()) …
#pragma once

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
  kSafe,   // first: rarely fails
  kUsual,  // second: the formats that make models faster
  kRare,   // last: rarely the best on a CPU
  kNever,
};

struct FormatInfo {
  Format format;
  std::string_view label;  // in the terms of the field; display_name() adds the bits
  std::string_view help;   // a phrase on storage and arithmetic
  Family family;
  Arithmetic arithmetic = Arithmetic::kFloat;  // of layers that have kernels for it
  std::uint8_t weight_bits;
  std::uint8_t activation_bits = 32;
  double typical_size;      // share of the bytes of FP32
  double assumed_time = 1;  // a layer's time / its time in FP32, where nothing was timed
  double making_time = 1;   // time of quantize() / time for w8
  bool needs_data = false;  // for calibration
  bool for_single_nodes = false;
  std::int64_t opset = 0;  // least opset; older models use `fallback`, or their opset is raised
  Format fallback;         // for tensors and nodes that the format cannot be applied to
  SearchStage stage = SearchStage::kNever;
  ModelKinds kinds = model_kinds(ModelKind::kOnnx);  // of models that can be quantized to it
};

// In the order in which a search tries formats of one stage.
std::span<const FormatInfo> all_formats();
const FormatInfo& info_of(Format format);

// An unchanged node or tensor.
inline constexpr Format kUnchanged = Format::kFp32;
// The format with weights of this number of bits and FP32 arithmetic; kUnchanged if there is none.
Format weight_only(unsigned bits);
// The same for MatMulNBits kernels.
Format nbits(unsigned bits);
// The format with this arithmetic, which must not be kFloat (shared by several formats).
Format format_with(Arithmetic arithmetic);
std::vector<Format> formats_of(Family family);
// The format of the same family with the next larger number of bits; `format` itself if it has the most.
Format wider(Format format);

// "INT8 static, W8A8", "8-bit weights, W8A32": W is followed by the bits of weights, A by the bits of
// activations.
std::string display_name(Format format);
// "int8 (INT8 static, W8A8)"
std::string name_and_label(Format format);

inline bool is_integer(Format format) { return info_of(format).family == Family::kInteger; }
inline bool is_half(Format format) { return info_of(format).family == Family::kHalf; }
inline bool is_static(Format format) { return info_of(format).arithmetic == Arithmetic::kStatic; }
inline bool is_dynamic(Format format) { return info_of(format).arithmetic == Arithmetic::kDynamic; }
// Returns a sentence if models of this kind cannot be quantized to the format ("is a TFLite model, which
// cannot be quantized to nbits4; …"), else an empty string.
std::string why_not_for(ModelKind kind, Format format);
// True if `sensitivity` supports the format.
bool has_layer_errors(Format format);

}  // namespace ounce
