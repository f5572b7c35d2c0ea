// What is known about each encoding: one row per stored type.
#pragma once

#include <ounce/outcome.h>

#include <cstdint>
#include <string_view>

#include "formats/onnx/plan/decision.h"

namespace ounce::plan {

enum class EncodingKind : std::uint8_t {
  kKeep,
  kLinear,    // a scale, and perhaps a zero point, for each group
  kCodebook,  // indices into a table of floats
  kHalf,      // 16-bit floats
  kBias,      // 32-bit sums of products
};

struct EncodingInfo {
  Encoding encoding;
  std::string_view name;
  EncodingKind kind;
  std::uint8_t bits;              // of one quantized value
  StoredAs as, as_unsigned = as;  // with zero points or unsigned values
};

const EncodingInfo& info_of(Encoding encoding);
// The encoding of `kind` with so many bits; kKeep if there is none.
Encoding encoding_of(EncodingKind kind, unsigned bits);
// Null for what no encoding is stored as.
const EncodingInfo* find_encoding(StoredAs stored);

}  // namespace ounce::plan
