// A TFLite model whose encoding is sound and whose meaning is not: operators read other tensors, tensors have
// other shapes, types and values, options have other numbers. Random bytes seldom get beyond the reader;
// these get into every pass.
//
//   const std::string other = mutate_tflite(bytes, seed);  // the same for the same seed
#pragma once

#include <cstdint>
#include <string>

namespace ounce::test {

// Bytes that are no model, and models that no check lets through, come back as they are.
std::string mutate_tflite(const std::string& bytes, std::uint64_t seed);

}  // namespace ounce::test
