#include "kernels/pack.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pack.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

// Each kernel does whole vectors, then the rest byte by byte. The plain build has only the rest: a vector of
// one byte has no pairs.
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

void pack_halves(const std::uint8_t* low, std::size_t n_low, const std::uint8_t* high, std::size_t n_high,
                 std::uint8_t* packed) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto nibble = hn::Set(Bytes(), std::uint8_t{0x0f});
  for (; i + kBytes <= n_high; i += kBytes) {
    const auto l = hn::And(hn::LoadU(Bytes(), low + i), nibble);
    const auto h = hn::And(hn::LoadU(Bytes(), high + i), nibble);
    const auto shifted = hn::BitCast(Bytes(), hn::ShiftLeft<4>(hn::BitCast(Words(), h)));
    hn::StoreU(hn::Or(l, shifted), Bytes(), packed + i);
  }
#endif
  for (; i < n_high; ++i) packed[i] = join(low[i], high[i]);
  if (i < n_low) packed[i] = join(low[i], 0);
}

void unpack_halves(const std::uint8_t* packed, std::size_t bytes, std::uint8_t* low, std::uint8_t* high) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto nibble = hn::Set(Bytes(), std::uint8_t{0x0f});
  for (; i + kBytes <= bytes; i += kBytes) {
    const auto both = hn::LoadU(Bytes(), packed + i);
    const auto shifted = hn::BitCast(Bytes(), hn::ShiftRight<4>(hn::BitCast(Words(), both)));
    hn::StoreU(hn::And(both, nibble), Bytes(), low + i);
    hn::StoreU(hn::And(shifted, nibble), Bytes(), high + i);
  }
#endif
  for (; i < bytes; ++i) {
    low[i] = packed[i] & 15U;
    high[i] = static_cast<std::uint8_t>(packed[i] >> 4);
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(pack_pairs);
HWY_EXPORT(unpack_pairs);
HWY_EXPORT(unpack_pairs_signed);
HWY_EXPORT(pack_halves);
HWY_EXPORT(unpack_halves);

void pack_pairs(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) {
  HWY_DYNAMIC_DISPATCH(pack_pairs)(codes, n, packed);
}

void unpack_pairs(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_pairs)(packed, n, codes);
}

void unpack_pairs_signed(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_pairs_signed)(packed, n, codes);
}

void pack_halves(const std::uint8_t* low, std::size_t n_low, const std::uint8_t* high, std::size_t n_high,
                 std::uint8_t* packed) {
  HWY_DYNAMIC_DISPATCH(pack_halves)(low, n_low, high, n_high, packed);
}

void unpack_halves(const std::uint8_t* packed, std::size_t bytes, std::uint8_t* low, std::uint8_t* high) {
  HWY_DYNAMIC_DISPATCH(unpack_halves)(packed, bytes, low, high);
}

}  // namespace ounce::kernels
#endif
