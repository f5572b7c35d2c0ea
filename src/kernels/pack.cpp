#include "kernels/pack.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pack.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

// Each kernel processes whole vectors, then the rest byte by byte. The plain build has only the byte loop,
// because a vector of one byte has no pairs.
HWY_INLINE std::uint8_t join(unsigned low, unsigned high) {
  return static_cast<std::uint8_t>((low & 15U) | (high & 15U) << 4);
}

HWY_INLINE std::uint8_t extend(unsigned nibble, bool is_signed) {
  return static_cast<std::uint8_t>(is_signed ? (nibble ^ 8U) - 8U : nibble);
}

#if HWY_TARGET != HWY_SCALAR
using Bytes = hn::ScalableTag<std::uint8_t>;
using Words = hn::RepartitionToWide<Bytes>;
using HalfBytes = hn::Rebind<std::uint8_t, Words>;
constexpr std::size_t kBytes = hn::MaxLanes(Bytes());
#endif

void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Words words;
  for (; i + kBytes <= n; i += kBytes) {
    const auto pairs = hn::BitCast(words, hn::LoadU(Bytes(), codes + i));
    const auto low = hn::And(pairs, hn::Set(words, std::uint16_t{0x000f}));
    const auto high = hn::And(hn::ShiftRight<4>(pairs), hn::Set(words, std::uint16_t{0x00f0}));
    hn::StoreU(hn::TruncateTo(HalfBytes(), hn::Or(low, high)), HalfBytes(), packed + i / 2);
  }
#endif
  for (; i + 2 <= n; i += 2) packed[i / 2] = join(codes[i], codes[i + 1]);
  if (i < n) packed[i / 2] = join(codes[i], 0);
}

HWY_INLINE void unpack(const std::uint8_t* packed, std::size_t n, bool is_signed, std::uint8_t* codes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Words words;
  const auto sign = hn::Set(Bytes(), std::uint8_t{8});
  for (; i + kBytes <= n; i += kBytes) {
    const auto pairs = hn::PromoteTo(words, hn::LoadU(HalfBytes(), packed + i / 2));
    const auto spread = hn::Or(pairs, hn::ShiftLeft<4>(pairs));
    auto nibbles = hn::BitCast(Bytes(), hn::And(spread, hn::Set(words, std::uint16_t{0x0f0f})));
    if (is_signed) nibbles = hn::Sub(hn::Xor(nibbles, sign), sign);
    hn::StoreU(nibbles, Bytes(), codes + i);
  }
#endif
  for (; i < n; ++i) {
    const unsigned byte = packed[i / 2];
    codes[i] = extend(i % 2 == 0 ? byte & 15U : byte >> 4, is_signed);
  }
}

void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  unpack(packed, n, false, codes);
}

void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  unpack(packed, n, true, codes);
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(pack_pairs);
HWY_EXPORT(unpack_pairs);
HWY_EXPORT(unpack_pairs_signed);

void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) {
  HWY_DYNAMIC_DISPATCH(pack_pairs)(codes, n, packed);
}

void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_pairs)(packed, n, codes);
}

void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_pairs_signed)(packed, n, codes);
}

std::vector<Packing::Piece> Packing::pieces(unsigned part) const {
  std::vector<Piece> pieces;
  for (unsigned from = 0; from < bits;) {
    const unsigned at = part * bits + from, shift = at % 8;
    const unsigned taken = std::min(8 - shift, bits - from);
    pieces.push_back({at / 8, shift, taken, from});
    from += taken;
  }
  return pieces;
}

void pack_part(Packing packing, unsigned part, const std::uint8_t* codes, std::size_t n, std::uint8_t* packed,
               std::size_t stride) {
  for (const Packing::Piece& piece : packing.pieces(part)) {
    std::uint8_t* const out = packed + piece.byte * stride;
    const unsigned mask = (1U << piece.bits) - 1;
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<std::uint8_t>(out[i] | ((unsigned{codes[i]} >> piece.from) & mask) << piece.shift);
  }
}

void unpack_part(Packing packing, unsigned part, const std::uint8_t* packed, std::size_t stride,
                 std::size_t n, std::uint8_t* codes) {
  std::fill_n(codes, n, std::uint8_t{0});
  for (const Packing::Piece& piece : packing.pieces(part)) {
    const std::uint8_t* const in = packed + piece.byte * stride;
    const unsigned mask = (1U << piece.bits) - 1;
    for (std::size_t i = 0; i < n; ++i)
      codes[i] =
          static_cast<std::uint8_t>(codes[i] | ((unsigned{in[i]} >> piece.shift) & mask) << piece.from);
  }
}

}  // namespace ounce::kernels
#endif
