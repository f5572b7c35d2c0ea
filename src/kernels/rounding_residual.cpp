#include "kernels/rounding_residual.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rounding_residual.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/affine-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

template <class Code>
HWY_INLINE VecF residual_of(VecF x, const Code* codes, const AffineLanes& a) {
  const VecF code = hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<Code, F32>(), codes)));
  return hn::Sub(hn::Mul(x, a.inverse), hn::Sub(code, a.zero));
}

template <class Code>
HWY_INLINE float residuals_of_block(const std::byte* x, std::size_t n, const AffineLanes& a,
                                    const Code* codes, float* residual) {
  const F32 d;
  VecF sums[kSumVectors];
  OUNCE_UNROLL
  for (std::size_t v = 0; v < kSumVectors; ++v) sums[v] = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    OUNCE_UNROLL
    for (std::size_t v = 0; v < kSumVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      const VecF lacking = residual_of(load(d, x + at * sizeof(float)), codes + at, a);
      hn::StoreU(lacking, d, residual + at);
      sums[v] = hn::Add(sums[v], lacking);
    }
  }
  for (std::size_t v = 0; v < kSumVectors && i + v * kLanes < n; ++v) {
    const std::size_t at = i + v * kLanes, lanes = std::min(kLanes, n - at);
    Code padded[kLanes] = {};
    std::memcpy(padded, codes + at, lanes);
    const std::byte* p = x + at * sizeof(float);
    const VecF values = lanes == kLanes ? load(d, p) : load_first(d, p, lanes);
    const VecF lacking = hn::IfThenElseZero(hn::FirstN(d, lanes), residual_of(values, padded, a));
    HWY_ALIGN float stored[kLanes];
    hn::Store(lacking, d, stored);
    std::memcpy(residual + at, stored, lanes * sizeof(float));
    sums[v] = hn::Add(sums[v], lacking);
  }
  return fold_sums(sums);
}

template <class Code>
HWY_INLINE double residuals_of_codes(const std::byte* x, std::size_t n, const Affine& affine,
                                     const Code* codes, float* residual) {
  const AffineLanes a = same_in_all_lanes(affine);
  double sum = 0;
  for (std::size_t i = 0; i < n; i += kRunBlock) {
    sum += static_cast<double>(
        residuals_of_block(x + i * sizeof(float), std::min(kRunBlock, n - i), a, codes + i, residual + i));
  }
  return sum;
}

double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual) {
  if (sign == CodeSign::kSigned)
    return residuals_of_codes(x, n, affine, reinterpret_cast<const std::int8_t*>(codes), residual);
  return residuals_of_codes(x, n, affine, codes, residual);
}

std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices) {
  const F32 d;
  const VecF factor = hn::Set(d, direction), limit = hn::Set(d, bound);
  std::size_t found = 0, i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto beyond = hn::Gt(hn::Mul(hn::LoadU(d, values + i), factor), limit);
    if (hn::AllFalse(d, beyond)) continue;
    for (std::size_t at = i; at < i + kLanes; ++at) {
      indices[found] = static_cast<std::uint32_t>(at);
      found += values[at] * direction > bound ? 1U : 0U;
    }
  }
  for (; i < n; ++i) {
    indices[found] = static_cast<std::uint32_t>(i);
    found += values[i] * direction > bound ? 1U : 0U;
  }
  return found;
}

void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums) {
  std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const F32 d;
  const VecI offsets = hn::Mul(hn::Iota(I32(), 0), hn::Set(I32(), static_cast<std::int32_t>(n)));
  for (; j + kLanes <= count; j += kLanes, values += kLanes * n) {
    VecF sum = hn::GatherIndex(d, values, offsets);
    for (std::size_t i = 1; i < n; ++i) sum = hn::Add(sum, hn::GatherIndex(d, values + i, offsets));
    hn::StoreU(sum, d, sums + j);
  }
#endif
  for (; j < count; ++j, values += n) {
    float sum = values[0];
    for (std::size_t i = 1; i < n; ++i) sum += values[i];
    sums[j] = sum;
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(rounding_residuals);
HWY_EXPORT(find_beyond);
HWY_EXPORT(sums_of_groups);

double rounding_residuals(const std::byte* x, std::size_t n, const Affine& affine, CodeSign sign,
                          const std::uint8_t* codes, float* residual) {
  return HWY_DYNAMIC_DISPATCH(rounding_residuals)(x, n, affine, sign, codes, residual);
}
std::size_t find_beyond(const float* values, std::size_t n, float direction, float bound,
                        std::uint32_t* indices) {
  return HWY_DYNAMIC_DISPATCH(find_beyond)(values, n, direction, bound, indices);
}
void sums_of_groups(const float* values, std::size_t count, std::size_t n, float* sums) {
  HWY_DYNAMIC_DISPATCH(sums_of_groups)(values, count, n, sums);
}

}  // namespace ounce::kernels
#endif
