// Codebook quantization: a value is coded as the index of the nearest of k <= 256 ascending entries. The k -
// 1 ascending boundaries (midpoints) decide: the code of x is the number of boundaries below x, so a value on
// a boundary takes the lower entry, and a NaN takes entry 0. The source is little-endian binary32 at any
// alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ounce::kernels {

void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes);

// Every code must be an index into the codebook.
void decode_lookup(const std::uint8_t* codes, std::size_t n, const float* codebook, float* out);

}  // namespace ounce::kernels
