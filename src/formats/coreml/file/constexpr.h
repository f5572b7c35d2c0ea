// Decompresses weights: evaluates the constexpr operations of a program, bit for bit like coremltools.
//
//   std::vector<DecodedTensor> outputs = decode_constexpr(operation, [&](Bytes name) { return … });
//
// Parameters are attributes until iOS17 and inputs from iOS18 on; an input may name the output of another
// constexpr operation. Arithmetic: affine_dequantize computes in FP32 and rounds to the type of its scale;
// blockwise_shift_scale computes in the type of its scale.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formats/coreml/file/model.h"

namespace ounce::coreml {

struct DecodedTensor {
  DataType type = DataType::kUnused;  // float16, float32, or integers of up to 16 bits
  std::vector<std::int64_t> dims;
  std::vector<float> values;  // FP32 represents all of these types exactly
};

bool is_constexpr(const Operation& operation);

// Returns the values of a constant. Throws Error{kUnsupported} for other types than those of DecodedTensor.
DecodedTensor decoded_value(const Value& value);

// Evaluates a constexpr operation. `find` returns the values of named inputs. Throws Error{kBadInput} for
// missing or contradictory parameters, and Error{kUnsupported}.
std::vector<DecodedTensor> decode_constexpr(const Operation& operation,
                                            const std::function<DecodedTensor(Bytes name)>& find);

// Visits the constexpr operations of a block (not those of nested blocks) in order, with their outputs. Needs
// the memory of one operation at a time, unless they feed each other.
void for_each_decoded(const Block& block,
                      const std::function<void(const Operation&, const std::vector<DecodedTensor>&)>& visit);

}  // namespace ounce::coreml
