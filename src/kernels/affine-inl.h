// The arithmetic of affine.h on vectors. Included once for each instruction set.
//
// Computes values relative to the zero point: clamp(round(v) + zero, lo, hi) - zero equals round(clamp(v, lo
// - zero, hi - zero)) exactly, because zero, lo and hi are small integers, and where adding zero to a huge v
// would round, both sides clamp. This saves two additions, and the clamp comes before any conversion.
#if defined(OUNCE_KERNELS_AFFINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OUNCE_KERNELS_AFFINE_INL_H_
#undef OUNCE_KERNELS_AFFINE_INL_H_
#else
#define OUNCE_KERNELS_AFFINE_INL_H_
#endif

#include "kernels/affine.h"
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {

// For |v| < 2^22 only. Without a rounding instruction, adding 1.5 * 2^23 shifts the fraction out of the
// mantissa.
HWY_INLINE VecF round_half_even(VecF v) {
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  const VecF shift = hn::Set(F32(), 12582912.0F);
  return hn::Sub(hn::Add(v, shift), shift);
#else
  return hn::Round(v);
#endif
}

// One Affine, or one for each lane.
struct AffineLanes {
  VecF scale, inverse, zero;
};

HWY_INLINE AffineLanes same_in_all_lanes(const Affine& affine) {
  const F32 d;
  return {hn::Set(d, affine.scale), hn::Set(d, affine.inverse), hn::Set(d, affine.zero)};
}

// affine[0 .. n), n >= 1, one per lane; the lanes beyond n are zero.
HWY_INLINE AffineLanes one_in_each_lane(const Affine* affine, std::size_t n) {
  static_assert(sizeof(Affine) == 3 * sizeof(float));
  const F32 d;
  AffineLanes lanes;
  if (n >= kLanes) {
    hn::LoadInterleaved3(d, &affine->scale, lanes.scale, lanes.inverse, lanes.zero);
  } else {
    Affine padded[kLanes] = {};
    std::copy_n(affine, n, padded);
    hn::LoadInterleaved3(d, &padded->scale, lanes.scale, lanes.inverse, lanes.zero);
  }
  return lanes;
}

// The limits of a quantized value relative to the zero point, in steps.
struct StepLimits {
  VecF lo, hi;
};

HWY_INLINE StepLimits step_limits(CodeRange range, VecF zero) {
  const F32 d;
  return {hn::Sub(hn::Set(d, static_cast<float>(range.lo)), zero),
          hn::Sub(hn::Set(d, static_cast<float>(range.hi)), zero)};
}

HWY_INLINE VecF clamp(VecF v, StepLimits limits) { return hn::Min(hn::Max(v, limits.lo), limits.hi); }

}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
