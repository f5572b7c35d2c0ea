#include "kernels/matmul.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

// Rows of a that share each vector of b while it is in a register.
constexpr std::size_t kRows = 4;

template <std::size_t kCount, bool kWhole>
HWY_INLINE void tile(const MatrixProduct& p, std::size_t row, std::size_t column, std::size_t lanes) {
  const F32 d;
  VecF totals[kCount];
  OUNCE_UNROLL
  for (std::size_t r = 0; r < kCount; ++r) totals[r] = hn::Zero(d);
  for (std::size_t from = 0; from < p.depth; from += kSumBlock) {
    const std::size_t to = std::min(p.depth, from + kSumBlock);
    VecF sums[kCount];
    OUNCE_UNROLL
    for (std::size_t r = 0; r < kCount; ++r) sums[r] = hn::Zero(d);
    for (std::size_t k = from; k < to; ++k) {
      const auto* b = reinterpret_cast<const std::byte*>(p.b + k * p.b_stride + column);
      const VecF values = kWhole ? load(d, b) : load_first(d, b, lanes);
      OUNCE_UNROLL
      for (std::size_t r = 0; r < kCount; ++r)
        sums[r] = hn::Add(sums[r], hn::Mul(hn::Set(d, p.a[(row + r) * p.a_stride + k]), values));
    }
    OUNCE_UNROLL
    for (std::size_t r = 0; r < kCount; ++r) totals[r] = hn::Add(totals[r], sums[r]);
  }
  OUNCE_UNROLL
  for (std::size_t r = 0; r < kCount; ++r) {
    float* out = p.out + (row + r) * p.out_stride + column;
    if constexpr (kWhole) {
      hn::StoreU(totals[r], d, out);
    } else {
      HWY_ALIGN float all[kLanes];
      hn::Store(totals[r], d, all);
      std::copy_n(all, lanes, out);
    }
  }
}

template <std::size_t kCount>
void rows(const MatrixProduct& p, std::size_t row) {
  std::size_t column = 0;
  for (; column + kLanes <= p.columns; column += kLanes) tile<kCount, true>(p, row, column, kLanes);
  if (column < p.columns) tile<kCount, false>(p, row, column, p.columns - column);
}

}  // namespace

void multiply(const MatrixProduct& p) {
  std::size_t row = 0;
  for (; row + kRows <= p.rows; row += kRows) rows<kRows>(p, row);
  for (; row < p.rows; ++row) rows<1>(p, row);
}

}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(multiply);

void multiply(const MatrixProduct& product) { HWY_DYNAMIC_DISPATCH(multiply)(product); }

void ref::multiply(const MatrixProduct& p) {
  for (std::size_t i = 0; i < p.rows; ++i)
    for (std::size_t j = 0; j < p.columns; ++j) {
      float total = 0;
      for (std::size_t from = 0; from < p.depth; from += kSumBlock) {
        float sum = 0;
        for (std::size_t k = from; k < std::min(p.depth, from + kSumBlock); ++k)
          sum += p.a[i * p.a_stride + k] * p.b[k * p.b_stride + j];
        total += sum;
      }
      p.out[i * p.out_stride + j] = total;
    }
}

}  // namespace ounce::kernels
#endif  // HWY_ONCE
