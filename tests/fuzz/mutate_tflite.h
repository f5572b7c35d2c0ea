// Changes the content of a TFLite model but keeps its encoding valid: operators read other tensors, tensors
// get other shapes, types and values, options get other numbers. Random bytes rarely pass the reader; these
// models reach every pass.
//
//   const std::string other = mutate_tflite(bytes, seed);  // the same for the same seed
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

// Returns bytes that are not a model, and models that fail validation, unchanged.
std::string mutate_tflite(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
