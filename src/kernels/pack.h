// Codes other than one number a byte: codes of fewer than 8 bits, and indices into a codebook.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ounce::kernels {

// One code in each byte, of which only the low nibble counts, <-> two in each byte.
//
// As ONNX stores INT4 and UINT4: element 2i in the low nibble of byte i, element 2i + 1 in the high one. An
// odd n leaves the last high nibble 0. `packed` has (n + 1) / 2 bytes.
void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed);
void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);         // 0 .. 15
void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes);  // -8 .. 7 as int8

// Codes of 1 to 7 bits, packed so that shifts of whole tensors unpack them. The codes are cut into parts()
// parts of the same length n; the codes at position i of all parts, one behind the other from the lowest bit
// on, are the bytes i, n + i, 2 n + i … of the result. With 4 bits the first half of the codes has the low
// half of each byte.
struct Packing {
  unsigned bits = 8;

  constexpr unsigned parts() const { return 8 / std::gcd(bits, 8U); }
  constexpr unsigned bytes() const { return bits / std::gcd(bits, 8U); }  // for one code of each part
  constexpr std::size_t length(std::size_t codes) const { return (codes + parts() - 1) / parts(); }

  // A code's bits, from `from` on, that are in one byte: the `bits` bits above the lowest `shift`.
  struct Piece {
    unsigned byte, shift, bits, from;
  };
  std::vector<Piece> pieces(unsigned part) const;
};
// The n codes of one part. Bytes are `stride` apart; those that are packed into must be 0 before the first
// part.
void pack_part(Packing packing, unsigned part, const std::uint8_t* codes, std::size_t n, std::uint8_t* packed,
               std::size_t stride);
void unpack_part(Packing packing, unsigned part, const std::uint8_t* packed, std::size_t stride,
                 std::size_t n, std::uint8_t* codes);

// Codebook quantization: a value is coded as the index of the nearest of k <= 256 ascending entries. The k -
// 1 ascending boundaries (midpoints) decide: the code of x is the number of boundaries below x, so a value on
// a boundary takes the lower entry, and a NaN takes entry 0. The source is little-endian binary32 at any
// alignment.
void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes);

// Every code must be an index into the codebook.
void decode_lookup(const std::uint8_t* codes, std::size_t n, const float* codebook, float* out);

}  // namespace ounce::kernels
