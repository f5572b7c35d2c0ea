#include "kernels/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/half.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

using U32 = hn::RebindToUnsigned<I32>;
using U16 = hn::Rebind<std::uint16_t, F32>;
using VecU = hn::Vec<U32>;

HWY_INLINE VecU bits(std::uint32_t value) { return hn::Set(U32(), value); }
HWY_INLINE VecU magnitude_of(VecF x) { return hn::And(hn::BitCast(U32(), x), bits(0x7fffffff)); }

// Magnitudes have no sign bit, so signed comparisons, which every CPU has, are correct.
HWY_INLINE auto less(VecU a, VecU b) { return hn::Lt(hn::BitCast(I32(), a), hn::BitCast(I32(), b)); }
HWY_INLINE VecU choose(hn::Mask<I32> mask, VecU yes, VecU no) {
  return hn::IfThenElse(hn::RebindMask(U32(), mask), yes, no);
}

// The thresholds of each format, as binary32 bits of magnitudes.
struct Binary16 {
  static constexpr std::int32_t kVanishes = 0x33000000;   // up to 2^-25 rounds to 0
  static constexpr std::int32_t kNormal = 0x387fe000;     // from here on normal
  static constexpr std::int32_t kOverflows = 0x477ff000;  // from 65520 on infinite

  static HWY_INLINE hn::Vec<U16> narrow(VecF x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    return hn::BitCast(U16(), hn::DemoteTo(hn::Rebind<hwy::float16_t, F32>(), x));
#else
    const VecU abs = magnitude_of(x);
    const VecU sign = hn::And(hn::ShiftRight<16>(hn::BitCast(U32(), x)), bits(0x8000));
    // Rebias the exponent from 127 to 15 and round off the 13 lowest bits.
    const VecU odd = hn::And(hn::ShiftRight<13>(abs), bits(1));
    const VecU normal = hn::ShiftRight<13>(hn::Add(hn::Add(abs, bits(0xc8000fff)), odd));
    // Near 0.5 the last bit of a binary32 is 2^-24, as in a binary16 subnormal, so the addition rounds
    // correctly.
    const VecF half = hn::Set(F32(), 0.5F);
    const VecU subnormal =
        hn::Sub(hn::BitCast(U32(), hn::Add(hn::BitCast(F32(), abs), half)), bits(0x3f000000));
    const VecU nan = hn::Or(hn::And(hn::ShiftRight<13>(abs), bits(0x3ff)), bits(0x7e00));
    VecU result = choose(less(abs, bits(0x38800000)), subnormal, normal);
    result = choose(less(bits(0x477fffff), abs), bits(0x7c00), result);
    result = choose(less(bits(0x7f800000), abs), nan, result);
    return hn::TruncateTo(U16(), hn::Or(result, sign));
#endif
  }

  static HWY_INLINE VecF widen(hn::Vec<U16> x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), x));
#else
    const VecU all = hn::PromoteTo(U32(), x);
    const VecU sign = hn::ShiftLeft<16>(hn::And(all, bits(0x8000)));
    const VecU abs = hn::And(all, bits(0x7fff));
    const VecU shifted = hn::ShiftLeft<13>(abs);
    const VecF tiny = hn::Mul(hn::ConvertTo(F32(), hn::BitCast(I32(), abs)), hn::Set(F32(), 0x1p-24F));
    VecU result = hn::Add(shifted, bits(112U << 23));
    result = choose(less(abs, bits(0x0400)), hn::BitCast(U32(), tiny), result);
    result = choose(less(bits(0x7bff), abs), hn::Or(shifted, bits(0x7f800000)), result);
    result = choose(less(bits(0x7c00), abs), hn::Or(result, bits(0x00400000)), result);
    return hn::BitCast(F32(), hn::Or(result, sign));
#endif
  }
};

struct Bfloat16 {
  static constexpr std::int32_t kVanishes = 0x00008000;
  static constexpr std::int32_t kNormal = 0x007f8000;
  static constexpr std::int32_t kOverflows = 0x7f7f8000;

  static HWY_INLINE hn::Vec<U16> narrow(VecF x) {
    const VecU all = hn::BitCast(U32(), x);
    const VecU odd = hn::And(hn::ShiftRight<16>(all), bits(1));
    const VecU rounded = hn::Add(hn::Add(all, bits(0x7fff)), odd);
    const VecU quiet = hn::Or(all, bits(0x00400000));
    return hn::TruncateTo(
        U16(), hn::ShiftRight<16>(choose(less(bits(0x7f800000), magnitude_of(x)), quiet, rounded)));
  }

  static HWY_INLINE VecF widen(hn::Vec<U16> x) {
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), x)));
  }
};

template <class Format>
struct Counts {
  VecI overflow, subnormal, vanished;

  HWY_INLINE void see(VecF x) {
    const I32 d;
    const VecI abs = hn::BitCast(d, magnitude_of(x));
    // Almost always all values are in the format's normal range.
    const auto below = hn::Lt(abs, hn::Set(d, Format::kOverflows));
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(below, hn::Gt(abs, hn::Set(d, Format::kNormal - 1)))))) return;
    const auto nonzero_result = hn::Gt(abs, hn::Set(d, Format::kVanishes));
    // A true lane is -1.
    overflow = hn::Sub(overflow, hn::VecFromMask(d, hn::AndNot(below, hn::Lt(abs, hn::Set(d, 0x7f800000)))));
    subnormal = hn::Sub(
        subnormal, hn::VecFromMask(d, hn::And(nonzero_result, hn::Lt(abs, hn::Set(d, Format::kNormal)))));
    vanished = hn::Sub(vanished, hn::VecFromMask(d, hn::AndNot(nonzero_result, hn::Gt(abs, hn::Zero(d)))));
  }

  HWY_INLINE void add_to(HalfStats& stats) const {
    stats.overflow += static_cast<std::uint64_t>(fold_lanes(I32(), overflow, AddOp()));
    stats.subnormal += static_cast<std::uint64_t>(fold_lanes(I32(), subnormal, AddOp()));
    stats.vanished += static_cast<std::uint64_t>(fold_lanes(I32(), vanished, AddOp()));
  }
};

template <class Format>
HWY_INLINE void narrow_all(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  const F32 d;
  constexpr std::size_t kChunk = std::size_t{1} << 20;  // far below the limit of a 32-bit count
  for (std::size_t first = 0; first < n; first += kChunk) {
    const std::size_t end = std::min(first + kChunk, n);
    Counts<Format> counts{hn::Zero(I32()), hn::Zero(I32()), hn::Zero(I32())};
    std::size_t i = first;
    for (; i + kLanes <= end; i += kLanes) {
      const VecF v = load(d, x + i * sizeof(float));
      counts.see(v);
      hn::StoreU(Format::narrow(v), U16(), out + i);
    }
    if (i < end) {
      const VecF v = load_first(d, x + i * sizeof(float), end - i);
      counts.see(v);  // zeros of the padding do not count
      HWY_ALIGN std::uint16_t lanes[kLanes];
      hn::Store(Format::narrow(v), U16(), lanes);
      std::memcpy(out + i, lanes, (end - i) * sizeof(std::uint16_t));
    }
    counts.add_to(stats);
  }
}

template <class Format>
HWY_INLINE void widen_all(const std::byte* x, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(Format::widen(load(U16(), x + i * sizeof(std::uint16_t))), F32(), out + i);
  }
  if (i < n) {
    HWY_ALIGN std::uint16_t padded[kLanes] = {};
    HWY_ALIGN float lanes[kLanes];
    std::memcpy(padded, x + i * sizeof(std::uint16_t), (n - i) * sizeof(std::uint16_t));
    hn::Store(Format::widen(hn::Load(U16(), padded)), F32(), lanes);
    std::memcpy(out + i, lanes, (n - i) * sizeof(float));
  }
}

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  narrow_all<Binary16>(x, n, out, stats);
}
void f16_to_f32(const std::byte* x, std::size_t n, float* out) { widen_all<Binary16>(x, n, out); }

void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  narrow_all<Bfloat16>(x, n, out, stats);
}
void bf16_to_f32(const std::byte* x, std::size_t n, float* out) { widen_all<Bfloat16>(x, n, out); }

void f64_to_f32(const std::byte* x, std::size_t n, float* out) {
  std::size_t i = 0;
  // Highway's emulated DemoteTo converts overflows to the largest finite value instead of infinity.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  constexpr std::size_t kDoubles = hn::MaxLanes(hn::ScalableTag<double>());
  for (; i + kDoubles <= n; i += kDoubles) {
    hn::StoreU(hn::DemoteTo(narrow, load(d, x + i * sizeof(double))), narrow, out + i);
  }
#endif
  for (; i < n; ++i) {
    double value;
    std::memcpy(&value, x + i * sizeof value, sizeof value);
    out[i] = static_cast<float>(value);
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(f32_to_f16);
HWY_EXPORT(f16_to_f32);
HWY_EXPORT(f32_to_bf16);
HWY_EXPORT(bf16_to_f32);
HWY_EXPORT(f64_to_f32);

void f32_to_f16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  HWY_DYNAMIC_DISPATCH(f32_to_f16)(x, n, out, stats);
}

void f16_to_f32(const std::byte* x, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(f16_to_f32)(x, n, out);
}

void f32_to_bf16(const std::byte* x, std::size_t n, std::uint16_t* out, HalfStats& stats) {
  HWY_DYNAMIC_DISPATCH(f32_to_bf16)(x, n, out, stats);
}

void bf16_to_f32(const std::byte* x, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(bf16_to_f32)(x, n, out);
}

void f64_to_f32(const std::byte* x, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(f64_to_f32)(x, n, out);
}

}  // namespace ounce::kernels
#endif
