#include "kernels/norms.h"

#include <bit>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norms.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

struct BlockNorms {
  VecF signal[kSumVectors], noise[kSumVectors];
  VecI max_abs;  // as bits: comparing them as integers keeps a NaN

  HWY_INLINE void see(std::size_t v, VecF x, VecF y) {
    const VecF error = hn::Sub(x, y);
    signal[v] = hn::Add(signal[v], hn::Mul(x, x));
    noise[v] = hn::Add(noise[v], hn::Mul(error, error));
    max_abs = hn::Max(max_abs, hn::And(hn::BitCast(I32(), error), hn::Set(I32(), 0x7fffffff)));
  }
};

HWY_INLINE void add_block(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms) {
  const F32 d;
  BlockNorms block;
  block.max_abs = hn::Zero(I32());
  OUNCE_UNROLL
  for (std::size_t v = 0; v < kSumVectors; ++v) block.signal[v] = block.noise[v] = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    OUNCE_UNROLL
    for (std::size_t v = 0; v < kSumVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      block.see(v, load(d, x + at * sizeof(float)), hn::LoadU(d, y + at));
    }
  }
  if (i < n) {
    const auto* y_bytes = reinterpret_cast<const std::byte*>(y);
    OUNCE_UNROLL
    for (std::size_t v = 0; v < kSumVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      if (at >= n) continue;
      const std::size_t offset = at * sizeof(float);
      const std::size_t lanes = n - at;
      if (lanes >= kLanes) {
        block.see(v, load(d, x + offset), load(d, y_bytes + offset));
      } else {
        block.see(v, load_first(d, x + offset, lanes), load_first(d, y_bytes + offset, lanes));
      }
    }
  }
  norms.signal += static_cast<double>(fold_sums(block.signal));
  norms.noise += static_cast<double>(fold_sums(block.noise));
  const std::int32_t seen = std::bit_cast<std::int32_t>(norms.max_abs) & 0x7fffffff;
  const std::int32_t largest = std::max(seen, fold_lanes(I32(), block.max_abs, MaxOp()));
  norms.max_abs =
      largest > 0x7f800000 ? std::numeric_limits<float>::quiet_NaN() : std::bit_cast<float>(largest);
}

void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms) {
  for (std::size_t i = 0; i < n; i += kRunBlock) {
    add_block(x + i * sizeof(float), y + i, std::min(kRunBlock, n - i), norms);
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(error_norms);

void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms) {
  HWY_DYNAMIC_DISPATCH(error_norms)(x, y, n, norms);
}

}  // namespace ounce::kernels
#endif
