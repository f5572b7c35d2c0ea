// The decision for one float tensor and its reason, independent of the file format. Formats derive types with
// the fields that only their emitters use (formats/onnx/plan/weights.h).
#pragma once

#include <ounce/recipe.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "kernels/range.h"
#include "model/model_file.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::plan {

using model::ChannelAxes;
using model::Role;
using ounce::Decoder;

enum class EncodingKind : std::uint8_t {
  kKeep,
  kLinear,    // a scale, and perhaps a zero point, for each group
  kCodebook,  // indices into a table of floats
  kHalf,      // FP16
  kBfloat,    // BF16
  kBias,      // 32-bit sums of products
};

// How values are stored. Code uses kind and bits; StoredAs names the resulting encodings. Only encodings that
// the code refers to have constants.
struct Encoding {
  EncodingKind kind = EncodingKind::kKeep;
  std::uint8_t bits = 32;  // of one value

  friend constexpr auto operator<=>(Encoding, Encoding) = default;
  static const Encoding kKeep, kLinear8, kLinear4, kFloat16, kBfloat16, kInt32;
};
inline constexpr Encoding Encoding::kKeep{};
inline constexpr Encoding Encoding::kLinear8{EncodingKind::kLinear, 8};
inline constexpr Encoding Encoding::kLinear4{EncodingKind::kLinear, 4};
inline constexpr Encoding Encoding::kFloat16{EncodingKind::kHalf, 16};
inline constexpr Encoding Encoding::kBfloat16{EncodingKind::kBfloat, 16};
inline constexpr Encoding Encoding::kInt32{EncodingKind::kBias, 32};

// The encoding with this kind and number of bits; kKeep if there is none.
Encoding encoding_of(EncodingKind kind, unsigned bits);
// The stored type of an encoding; empty for kKeep. `is_unsigned`: with zero points or unsigned values.
std::optional<StoredAs> stored_as(Encoding encoding, bool is_unsigned);
unsigned bits_of(StoredAs stored);  // of one value
std::string_view name_of(Encoding encoding);

struct TensorPlan {
  model::WeightSite weight;
  Encoding encoding = Encoding::kKeep;
  std::string reason;

  // For everything but kKeep.
  Decoder decoder = Decoder::kFold;
  GranularityKind granularity = GranularityKind::kTensor;  // never kAuto
  quant::Layout layout;                                    // of the groups
  std::size_t block = 0;                                   // for kBlock
  quant::LinearFormat format;                              // for the linear encodings
  ScaleMethod scale = ScaleMethod::kMse;
  // An integer op needs the tensor quantized, whatever its values are.
  bool is_required = false;
  std::size_t kernel = 0;  // for balanced rounding: taps of a kernel, 1 without kernels; 0 rounds to nearest
  std::shared_ptr<const std::vector<std::uint8_t>> codes;  // precomputed, one byte each (kNbits: packed);
                                                           // null: rounded
  std::vector<kernels::Range> ranges;  // of the groups (one if there are none); empty if too many to keep
  std::uint64_t stored_bytes = 0;      // quantized values, scales and zero points

  std::optional<Digest> digest;  // of the tensor's bytes, if it is large and was read

  bool is_stored() const { return encoding != Encoding::kKeep; }
  bool is_half() const { return encoding == Encoding::kFloat16 || encoding == Encoding::kBfloat16; }
  bool is_linear() const { return encoding.kind == EncodingKind::kLinear; }
  bool is_packed() const { return encoding.bits < 8; }
  bool is_nbits() const { return decoder == Decoder::kNbits && is_linear(); }
  unsigned bits() const { return encoding.bits; }  // of a quantized value
  std::string granularity_text() const;            // "tensor", "channel 0", "block 32"
};

// Size of the quantized values, scales and zero points; of the tensor itself for kKeep.
std::uint64_t stored_bytes(const TensorPlan& plan);
// One line without line end: how the tensor is stored, or "keep", and the reason. `more` adds details of the
// file format.
std::string text_of(const TensorPlan& plan, const std::string& more = {});

// Set the granularity: the whole tensor, a channel, or a block of a channel share a scale. Each function sets
// granularity, layout and block.
void group_by_tensor(TensorPlan& plan);
void group_by_channel(TensorPlan& plan);  // of `weight.channels`
// Blocks run along the summed axis: within a row, or down a column. Returns false, and changes nothing, if
// the shape is not a multiple of the block size.
bool group_by_block(TensorPlan& plan, std::size_t block);

}  // namespace ounce::plan
