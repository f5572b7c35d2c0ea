// What is done with one float tensor, and why.
#pragma once

#include <ounce/outcome.h>
#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "formats/onnx/plan/weights.h"
#include "kernels/affine.h"
#include "kernels/range.h"
#include "quant/block_panels.h"
#include "quant/dot_product_pairs.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::plan {

enum class Encoding {
  kKeep,
  kLinear8,
  kLinear4,
  kLinear2,
  kCodebook8,
  kCodebook4,
  kFloat16,
  kBfloat16,
  kInt32
};

using ounce::Decoder;

struct Decision {
  Weight weight;
  Encoding encoding = Encoding::kKeep;
  std::string reason;

  // For everything but kKeep.
  Decoder decoder = Decoder::kFold;
  GranularityKind granularity = GranularityKind::kTensor;  // never kAuto
  quant::Layout layout;                                    // of the groups
  quant::LinearFormat format;                              // for the linear encodings
  ScaleMethod scale = ScaleMethod::kMse;
  std::size_t kernel = 0;  // for balanced rounding: taps of a kernel, 1 without kernels; 0 rounds to nearest
  // Weights and biases (kInt32) of integer ops: their node in the integer plan, and their scales, which are
  // found beforehand, as those of a bias are made of the weight's.
  std::size_t integer_node = graph::kNone;
  std::vector<kernels::Affine> affine;
  quant::DotProductPairs pairs;  // of weights whose products must not saturate on any CPU
  std::shared_ptr<const std::vector<std::uint8_t>> codes;  // found beforehand, a byte each (kNbits:
                                                           // packed); null: rounded
  float limit = 0;                     // of magnitudes: values beyond it become it; 0 for none
  std::vector<float> shift;            // added to a bias, see integer_weights.h; empty for none
  std::vector<kernels::Range> ranges;  // of the groups (one for encodings without); empty if too many to keep
  std::size_t block = 0;               // for kBlock
  // Of 4 bits. kFold: the two values of a byte are neighbours and come out of a table of pairs, otherwise
  // they are half a tensor apart and are shifted out. kDq: such halves become bytes at load, otherwise the op
  // takes 4-bit types.
  bool uses_pair_table = false, is_split_nibbles = false;
  std::vector<std::int64_t> view;        // the shape in which the codes are scaled …
  std::vector<std::int64_t> scale_dims;  // … and the shape of the scales that fits it
  // kNbits: the rows that the kernels see, where blocks run along each row, and their level of accuracy.
  quant::BlockRows rows;
  int accuracy_level = 0;
  std::shared_ptr<const std::vector<float>> energy;  // of the input of each column; null: all alike
  std::uint64_t stored_bytes = 0;                    // codes, scales and zeros

  std::optional<Digest> digest;  // of the tensor's bytes, if it is large and was read

  bool is_of_integer_op() const { return integer_node != graph::kNone; }
  bool is_stored() const { return encoding != Encoding::kKeep; }
  bool is_half() const { return encoding == Encoding::kFloat16 || encoding == Encoding::kBfloat16; }
  bool is_nbits() const { return decoder == Decoder::kNbits && is_linear(); }
  bool is_linear() const {
    return encoding == Encoding::kLinear8 || encoding == Encoding::kLinear4 || encoding == Encoding::kLinear2;
  }
  unsigned bits() const;  // of a code, for linear encodings
  bool is_packed() const { return encoding == Encoding::kLinear4 || encoding == Encoding::kCodebook4; }
  std::size_t block_axis() const;        // of a matrix: the axis that blocks run along
  std::string granularity_text() const;  // "tensor", "channel 0", "block 32"
};

// Codes of a bias leave room for the sums that are added to it.
inline constexpr double kLargestBias = 1 << 30, kLeastBias = -kLargestBias;

// Bytes of the codes, scales and zeros; of the tensor itself for kKeep.
std::uint64_t stored_bytes(const Decision& decision);

std::string_view name_of(Encoding encoding);

}  // namespace ounce::plan
