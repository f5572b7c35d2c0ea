#include "kernels/panel_search.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel_search.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/affine-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

// Candidates evaluated on a vector while it is in a register; their sums are independent of each other.
constexpr std::size_t kTogether = 3;
constexpr float kLargestGain = 3.402823466e38F;

template <std::size_t kCount, bool kWeighted>
HWY_INLINE void try_candidates(const float* x, const float* h, std::size_t n, std::size_t lane,
                               const PanelCandidate* candidates, PanelBest& best) {
  const F32 d;
  VecF inverse[kCount], product[kCount], square[kCount];
  StepLimits limits[kCount];
  OUNCE_UNROLL
  for (std::size_t k = 0; k < kCount; ++k) {
    inverse[k] = hn::LoadU(d, candidates[k].inverse + lane);
    limits[k] = {hn::LoadU(d, candidates[k].lo + lane), hn::LoadU(d, candidates[k].hi + lane)};
    product[k] = square[k] = hn::Zero(d);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const VecF value = hn::LoadU(d, x + i * kPanelBlocks + lane);
    OUNCE_UNROLL
    for (std::size_t k = 0; k < kCount; ++k) {
      const VecF code = round_half_even(clamp(hn::Mul(value, inverse[k]), limits[k]));
      const VecF weighted = kWeighted ? hn::Mul(code, hn::Set(d, h[i])) : code;
      product[k] = hn::Add(product[k], hn::Mul(weighted, value));
      square[k] = hn::Add(square[k], hn::Mul(weighted, code));
    }
  }
  VecF scale = hn::LoadU(d, best.scale + lane), gain = hn::LoadU(d, best.gain + lane),
       lo = hn::LoadU(d, best.lo + lane);
  OUNCE_UNROLL
  for (std::size_t k = 0; k < kCount; ++k) {
    const VecF other = hn::Div(product[k], square[k]), reached = hn::Mul(other, product[k]);
    // All-zero blocks give a NaN, for which both comparisons are false.
    const auto is_better = hn::And(hn::Gt(reached, gain), hn::Le(reached, hn::Set(d, kLargestGain)));
    scale = hn::IfThenElse(is_better, other, scale);
    gain = hn::IfThenElse(is_better, reached, gain);
    lo = hn::IfThenElse(is_better, limits[k].lo, lo);
  }
  hn::StoreU(scale, d, best.scale + lane);
  hn::StoreU(gain, d, best.gain + lane);
  hn::StoreU(lo, d, best.lo + lane);
}

template <bool kWeighted>
HWY_INLINE void try_all(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                        std::size_t count, PanelBest& best) {
  for (std::size_t lane = 0; lane < kPanelBlocks; lane += kLanes) {
    std::size_t k = 0;
    for (; k + kTogether <= count; k += kTogether)
      try_candidates<kTogether, kWeighted>(x, h, n, lane, candidates + k, best);
    for (; k < count; ++k) try_candidates<1, kWeighted>(x, h, n, lane, candidates + k, best);
  }
}

void improve_panel(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                   std::size_t count, PanelBest& best) {
  if (h == nullptr) {
    try_all<false>(x, h, n, candidates, count, best);
  } else {
    try_all<true>(x, h, n, candidates, count, best);
  }
}

void turn_bytes(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to, std::size_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t r = 0; r < kPanelBlocks; ++r) {
    for (std::size_t c = 0; c < kPanelBlocks; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
#else
  // Four perfect shuffles of all bytes.
  const hn::FixedTag<std::uint8_t, kPanelBlocks> d;
  hn::Vec<decltype(d)> rows[kPanelBlocks], mixed[kPanelBlocks];
  OUNCE_UNROLL
  for (std::size_t r = 0; r < kPanelBlocks; ++r) rows[r] = hn::LoadU(d, from + r * from_stride);
  OUNCE_UNROLL
  for (int round = 0; round < 4; ++round) {
    OUNCE_UNROLL
    for (std::size_t r = 0; r < kPanelBlocks / 2; ++r) {
      mixed[2 * r] = hn::InterleaveLower(d, rows[r], rows[r + kPanelBlocks / 2]);
      mixed[2 * r + 1] = hn::InterleaveUpper(d, rows[r], rows[r + kPanelBlocks / 2]);
    }
    OUNCE_UNROLL
    for (std::size_t r = 0; r < kPanelBlocks; ++r) rows[r] = mixed[r];
  }
  OUNCE_UNROLL
  for (std::size_t r = 0; r < kPanelBlocks; ++r) hn::StoreU(rows[r], d, to + r * to_stride);
#endif
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(improve_panel);
HWY_EXPORT(turn_bytes);

void improve_panel(const float* x, const float* h, std::size_t n, const PanelCandidate* candidates,
                   std::size_t count, PanelBest& best) {
  HWY_DYNAMIC_DISPATCH(improve_panel)(x, h, n, candidates, count, best);
}

void turn_bytes(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to, std::size_t to_stride) {
  HWY_DYNAMIC_DISPATCH(turn_bytes)(from, from_stride, to, to_stride);
}

}  // namespace ounce::kernels
#endif
