// Codes other than one number a byte: two codes of 4 bits in each byte, and indices into a codebook.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ounce::kernels {

// One code in each byte, of which only the low nibble counts, <-> two in each byte.
//
// As ONNX stores INT4 and UINT4: element 2i in the low nibble of byte i, element 2i + 1 in the high one. An
// odd n leaves the last high nibble 0. `packed` has (n + 1) / 2 bytes.
void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed);
void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);         // 0 .. 15
void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);  // -8 .. 7 as int8

// Two sequences side by side: packed[i] = low[i] | high[i] << 4. n_low is n_high or n_high + 1; in the latter
// case the last high nibble is 0. `packed` has n_low bytes.
void pack_halves(const std::uint8_t* low, std::size_t n_low, const std::uint8_t* high, std::size_t n_high,
                 std::uint8_t* packed);
void unpack_halves(const std::uint8_t* packed, std::size_t bytes, std::uint8_t* low, std::uint8_t* high);

// Codebook quantization: a value is coded as the index of the nearest of k <= 256 ascending entries. The k -
// 1 ascending boundaries (midpoints) decide: the code of x is the number of boundaries below x, so a value on
// a boundary takes the lower entry, and a NaN takes entry 0. The source is little-endian binary32 at any
// alignment.
void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes);

// Every code must be an index into the codebook.
void decode_lookup(const std::uint8_t* codes, std::size_t n, const float* codebook, float* out);

}  // namespace ounce::kernels
