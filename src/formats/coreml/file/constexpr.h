// Compressed weights: what the constexpr operations of a program decode to, to the bit as coremltools does
// it.
//
//   std::vector<DecodedTensor> outputs = decode_constexpr(operation, [&](Bytes name) { return … });
//
// Parameters are attributes until iOS17 and inputs from iOS18 on; an input may name the output of another
// constexpr operation. Arithmetic: affine_dequantize computes in binary32 and rounds to the type of its
// scale; blockwise_shift_scale computes in the type of its scale.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

struct DecodedTensor {
  DataType type = DataType::kUnused;  // float16, float32, or integers of up to 16 bits
  std::vector<std::int64_t> dims;
  std::vector<float> values;  // all of these are binary32 numbers
};

bool is_constexpr(const Operation& operation);

// Of a constant: its values as they are. Throws Error{kUnsupported} for a type that is none of the above.
DecodedTensor decoded_value(const Value& value);

// The outputs of a constexpr operation. `find` gives the values of those that its inputs name. Throws
// Error{kBadInput} for parameters that are missing or do not fit together, and Error{kUnsupported}.
std::vector<DecodedTensor> decode_constexpr(const Operation& operation,
                                            const std::function<DecodedTensor(Bytes name)>& find);

// All constexpr operations of a block that are not inside of others, in their order, with what each gives.
// Memory for one at a time, unless they feed each other.
void for_each_decoded(const Block& block,
                      const std::function<void(const Operation&, const std::vector<DecodedTensor>&)>& visit);

}  // namespace ounce::coreml
