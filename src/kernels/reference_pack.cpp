#include "kernels/reference.h"

namespace ounce::kernels::ref {

void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) {
  for (std::size_t i = 0; i < n; i += 2) {
    const unsigned low = codes[i] & 15U;
    const unsigned high = i + 1 < n ? codes[i + 1] & 15U : 0U;
    packed[i / 2] = static_cast<std::uint8_t>(low | high << 4);
  }
}

void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned both = packed[i / 2];
    codes[i] = static_cast<std::uint8_t>(i % 2 == 0 ? both & 15U : both >> 4);
  }
}

void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  unpack_pairs(packed, n, codes);
  for (std::size_t i = 0; i < n; ++i)
    codes[i] = static_cast<std::uint8_t>(codes[i] < 8 ? codes[i] : codes[i] - 16);
}

void pack_halves(const std::uint8_t* low, std::size_t n_low, const std::uint8_t* high, std::size_t n_high,
                 std::uint8_t* packed) {
  for (std::size_t i = 0; i < n_low; ++i) {
    const unsigned upper = i < n_high ? high[i] & 15U : 0U;
    packed[i] = static_cast<std::uint8_t>((low[i] & 15U) | upper << 4);
  }
}

void unpack_halves(const std::uint8_t* packed, std::size_t bytes, std::uint8_t* low, std::uint8_t* high) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned both = packed[i];
    low[i] = static_cast<std::uint8_t>(both & 15U);
    high[i] = static_cast<std::uint8_t>(both >> 4);
  }
}

}  // namespace ounce::kernels::ref
