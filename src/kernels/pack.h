// Packing of quantized values of fewer than 8 bits, and codebook indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ounce::kernels {

// Convert between one value per byte (in the low nibble) and two per byte.
//
// The format is that of ONNX's INT4 and UINT4: element 2i in the low nibble of byte i, element 2i + 1 in the
// high one. If n is odd, the last high nibble is 0. `packed` has (n + 1) / 2 bytes.
void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed);
void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);         // 0 .. 15
void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);  // -8 .. 7 as int8

// Packing of 1- to 7-bit values that shifts of whole tensors can unpack. The values are split into parts()
// parts of the same length n. The values at position i of all parts, concatenated from the lowest bit on, are
// the bytes i, n + i, 2 n + i … of the result. With 4 bits, the first half of the values is in the low
// nibbles.
struct Packing {
  unsigned bits = 8;

  constexpr unsigned parts() const { return 8 / std::gcd(bits, 8U); }
  constexpr unsigned bytes() const { return bits / std::gcd(bits, 8U); }  // for one value of each part
  constexpr std::size_t length(std::size_t codes) const { return (codes + parts() - 1) / parts(); }

  // The bits of a value, starting at bit `from`, that are in one byte: `bits` bits above the lowest `shift`.
  struct Piece {
    unsigned byte, shift, bits, from;
  };
  std::vector<Piece> pieces(unsigned part) const;
};
// The n values of one part. Bytes are `stride` apart. The destination must be 0 before the first part is
// packed.
void pack_part(Packing packing, unsigned part, const std::uint8_t* codes, std::size_t n, std::uint8_t* packed,
               std::size_t stride);
void unpack_part(Packing packing, unsigned part, const std::uint8_t* packed, std::size_t stride,
                 std::size_t n, std::uint8_t* codes);

// Codebook quantization: the index of the nearest of k <= 256 ascending entries, determined by the k - 1
// ascending boundaries (midpoints). The index of x is the number of boundaries below x, so a value on a
// boundary gets the lower entry, and a NaN gets entry 0. The source is little-endian binary32 at any
// alignment.
void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes);

// Every index must be within the codebook.
void decode_lookup(const std::uint8_t* codes, std::size_t n, const float* codebook, float* out);

}  // namespace ounce::kernels
