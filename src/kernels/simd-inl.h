// Building blocks of vectorized kernels: loads at any alignment, loads of a tail, and the fixed-order sum of
// affine.h. Included once for each instruction set, therefore Highway's toggled guard instead of #pragma
// once.
#if defined(OUNCE_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OUNCE_KERNELS_SIMD_INL_H_
#undef OUNCE_KERNELS_SIMD_INL_H_
#else
#define OUNCE_KERNELS_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/affine.h"

// Loops over small arrays of vectors must be unrolled, or the arrays end up in memory.
#define OUNCE_UNROLL _Pragma("GCC unroll 16")

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, kSumLanes>;
using I32 = hn::RebindToSigned<F32>;
using VecF = hn::Vec<F32>;
using VecI = hn::Vec<I32>;

inline constexpr std::size_t kLanes = hn::MaxLanes(F32());
inline constexpr std::size_t kSumVectors = kSumLanes / kLanes;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* p) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> value;
  std::memcpy(&value, p, sizeof value);
  return hn::Set(d, value);
#else
  const hn::Repartition<std::uint8_t, D> bytes;
  return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(p)));
#endif
}

// Loads the first n < kLanes elements, then zeros; reads nothing beyond them.
HWY_INLINE VecF load_first(F32 d, const std::byte* p, std::size_t n) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, n), d, reinterpret_cast<const float*>(p));
#else
  HWY_ALIGN float lanes[kLanes] = {};
  std::memcpy(lanes, p, n * sizeof(float));
  return hn::Load(d, lanes);
#endif
}

struct AddOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct MinOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
};
struct MaxOp {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

// Reduces the lanes of a vector by repeated halving: lane i with lane i + N/2, and so on.
template <class D, class Op>
HWY_INLINE hn::TFromD<D> fold_lanes(D d, hn::Vec<D> v, Op op) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return fold_lanes(half, op(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), op);
  } else {
    v = op(v, hn::Shuffle1032(v));
    v = op(v, hn::Shuffle2301(v));
  }
#endif
  static_cast<void>(d);
  static_cast<void>(op);
  return hn::GetLane(v);
}

// Adds the kSumLanes partial sums in the order documented in affine.h.
HWY_INLINE float fold_sums(VecF (&sums)[kSumVectors]) {
  OUNCE_UNROLL
  for (std::size_t half = kSumVectors / 2; half > 0; half /= 2) {
    OUNCE_UNROLL
    for (std::size_t i = 0; i < half; ++i) sums[i] = hn::Add(sums[i], sums[i + half]);
  }
  return fold_lanes(F32(), sums[0], AddOp());
}

}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
