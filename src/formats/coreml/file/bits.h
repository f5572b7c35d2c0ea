// Values of fewer than 8 bits as a stream of bits: the first value in the lowest bits, values may cross
// bytes, unused bits of the last byte are 0. One byte per value on the other side.
//
// Ranges of a stream can be processed separately if they start at a multiple of 8 values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/pack.h"

namespace ounce::coreml {

inline constexpr std::size_t bytes_of_stream(std::size_t values, unsigned bits) {
  return (values * bits + 7) / 8;
}

// `packed` has room for bytes_of_stream() bytes. Higher bits of the values are ignored.
inline void pack_stream(const std::uint8_t* codes, std::size_t n, unsigned bits, std::uint8_t* packed) {
  if (bits == 4) return kernels::pack_pairs(codes, n, packed);
  const unsigned mask = (1U << bits) - 1;
  unsigned waiting = 0, count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    waiting |= (codes[i] & mask) << count;
    for (count += bits; count >= 8; count -= 8, waiting >>= 8) *packed++ = static_cast<std::uint8_t>(waiting);
  }
  if (count != 0) *packed = static_cast<std::uint8_t>(waiting);
}

inline void unpack_stream(const std::uint8_t* packed, std::size_t n, unsigned bits, std::uint8_t* codes) {
  if (bits == 4) return kernels::unpack_pairs(packed, n, codes);
  const unsigned mask = (1U << bits) - 1;
  unsigned waiting = 0, count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (count < bits) {
      waiting |= static_cast<unsigned>(*packed++) << count;
      count += 8;
    }
    codes[i] = static_cast<std::uint8_t>(waiting & mask);
    waiting >>= bits;
    count -= bits;
  }
}

// Reads a stream from its beginning.
class StreamReader {
 public:
  StreamReader(const std::uint8_t* packed, unsigned bits) : packed_(packed), bits_(bits) {}

  std::uint8_t next() {
    if (bits_ == 8) return *packed_++;
    if (count_ < bits_) {
      waiting_ |= static_cast<unsigned>(*packed_++) << count_;
      count_ += 8;
    }
    const unsigned code = waiting_ & ((1U << bits_) - 1);
    waiting_ >>= bits_;
    count_ -= bits_;
    return static_cast<std::uint8_t>(code);
  }

 private:
  const std::uint8_t* packed_;
  unsigned bits_, waiting_ = 0, count_ = 0;
};

}  // namespace ounce::coreml
