#include "quant/block_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/pack.h"
#include "quant/tiles.h"

namespace ounce::quant {
namespace {

constexpr std::size_t kCodesPerByte = 4;  // of 2 bits

}  // namespace

std::size_t stripe_count(const BlockRows& shape) { return (shape.rows + kStripeRows - 1) / kStripeRows; }

void for_each_stripe(const FloatSource& source, const BlockRows& shape, const ForEach& for_each,
                     const VisitRows& run) {
  // Stripes side by side read the same pages of a source that is read down its columns: those are let go
  // when several pages' worth of columns are done.
  const std::size_t pages = std::max<std::size_t>(1, kResident / (kPanelWidth * shape.columns));
  const std::size_t per_release = std::max<std::size_t>(1, pages * kPanelWidth / kStripeRows);
  for_each(stripe_count(shape), [&](std::size_t stripe) {
    const std::size_t first = stripe * kStripeRows, count = std::min(kStripeRows, shape.rows - first);
    run(stripe, first, count);
    if (!shape.is_transposed) {
      source.release(first * shape.columns, count * shape.columns);
    } else if ((stripe + 1) % per_release == 0) {
      source.release();
    }
  });
  source.release();
}

void pack_codes(const std::uint8_t* codes, std::size_t n, unsigned bits, std::uint8_t* packed) {
  if (bits == 8) {
    std::copy_n(codes, n, packed);
  } else if (bits == 4) {
    kernels::pack_pairs(codes, n, packed);
  } else {
    std::fill_n(packed, (n + kCodesPerByte - 1) / kCodesPerByte, std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
      packed[i / kCodesPerByte] |= static_cast<std::uint8_t>((codes[i] & 3U) << (2 * (i % kCodesPerByte)));
  }
}

void unpack_codes(const std::uint8_t* packed, std::size_t n, unsigned bits, std::uint8_t* codes) {
  if (bits == 8) {
    std::copy_n(packed, n, codes);
  } else if (bits == 4) {
    kernels::unpack_pairs(packed, n, codes);
  } else {
    for (std::size_t i = 0; i < n; ++i)
      codes[i] =
          static_cast<std::uint8_t>(unsigned{packed[i / kCodesPerByte]} >> (2 * (i % kCodesPerByte)) & 3U);
  }
}

}  // namespace ounce::quant
