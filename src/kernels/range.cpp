#include "kernels/range.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/range.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

struct Extent {
  VecF lo, hi;
  VecI abs;

  HWY_INLINE void include(VecF x) {
    const VecI magnitude = hn::And(hn::BitCast(I32(), x), hn::Set(I32(), 0x7fffffff));
    lo = hn::Min(lo, x);
    hi = hn::Max(hi, x);
    abs = hn::Max(abs, magnitude);
  }
  HWY_INLINE void include(const Extent& other) {
    lo = hn::Min(lo, other.lo);
    hi = hn::Max(hi, other.hi);
    abs = hn::Max(abs, other.abs);
  }
};

HWY_INLINE Extent empty_extent() {
  const F32 d;
  const float inf = std::numeric_limits<float>::infinity();
  return {hn::Set(d, inf), hn::Set(d, -inf), hn::Zero(I32())};
}

HWY_INLINE Range range_of(const Extent& extent) {
  return {fold_lanes(F32(), extent.lo, MinOp()), fold_lanes(F32(), extent.hi, MaxOp()),
          static_cast<std::uint32_t>(fold_lanes(I32(), extent.abs, MaxOp()))};
}

HWY_INLINE Range range_of_short(const std::byte* x, std::size_t n) {
  const F32 d;
  const auto real = hn::FirstN(d, n);
  const VecF v = load_first(d, x, n);
  Extent extent = empty_extent();
  extent.abs = hn::And(hn::BitCast(I32(), v), hn::Set(I32(), 0x7fffffff));
  extent.lo = hn::IfThenElse(real, v, extent.lo);
  extent.hi = hn::IfThenElse(real, v, extent.hi);
  return range_of(extent);
}

HWY_INLINE Range range_of_long(const std::byte* x, std::size_t n) {
  const F32 d;
  constexpr std::size_t kBytes = kLanes * sizeof(float);
  Extent extent = empty_extent();
  std::size_t i = 0;
  if (n >= 4 * kLanes) {
    Extent b = extent, c = extent, e = extent;
    for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
      const std::byte* p = x + i * sizeof(float);
      extent.include(load(d, p));
      b.include(load(d, p + kBytes));
      c.include(load(d, p + 2 * kBytes));
      e.include(load(d, p + 3 * kBytes));
    }
    extent.include(b);
    c.include(e);
    extent.include(c);
  }
  for (; i + kLanes <= n; i += kLanes) extent.include(load(d, x + i * sizeof(float)));
  // Visiting elements twice does not change the result, so the tail is the last whole vector.
  if (i < n) extent.include(load(d, x + (n - kLanes) * sizeof(float)));
  return range_of(extent);
}

void range_of_runs(const std::byte* x, std::size_t runs, std::size_t n, Range* ranges) {
  if (n == 0) return;
  for (std::size_t r = 0; r < runs; ++r, x += n * sizeof(float)) {
    ranges[r].merge(n < kLanes ? range_of_short(x, n) : range_of_long(x, n));
  }
}

// The width of a strip of columns: wide enough to stream its rows, narrow enough to keep its state in the
// cache.
constexpr std::size_t kPanel = 2048;
struct Panel {
  HWY_ALIGN_MAX float lo[kPanel];
  HWY_ALIGN_MAX float hi[kPanel];
  HWY_ALIGN_MAX std::int32_t abs[kPanel];
};

template <std::size_t kRows>
HWY_INLINE void include_rows(Panel& panel, const std::byte* x, std::size_t cols, std::size_t row_bytes) {
  const F32 d;
  for (std::size_t c = 0; c < cols; c += kLanes) {
    Extent extent{hn::Load(d, panel.lo + c), hn::Load(d, panel.hi + c), hn::Load(I32(), panel.abs + c)};
    const std::byte* p = x + c * sizeof(float);
    const std::size_t left = cols - c;
    OUNCE_UNROLL
    for (std::size_t r = 0; r < kRows; ++r, p += row_bytes) {
      extent.include(left >= kLanes ? load(d, p) : load_first(d, p, left));
    }
    hn::Store(extent.lo, d, panel.lo + c);
    hn::Store(extent.hi, d, panel.hi + c);
    hn::Store(extent.abs, I32(), panel.abs + c);
  }
}

void range_of_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      Range* ranges) {
  if (rows == 0) return;
  const F32 d;
  const Extent nothing = empty_extent();
  const std::size_t row_bytes = stride * sizeof(float);
  Panel panel;
  for (std::size_t first = 0; first < cols; first += kPanel) {
    const std::size_t width = std::min(kPanel, cols - first);
    for (std::size_t c = 0; c < width; c += kLanes) {
      hn::Store(nothing.lo, d, panel.lo + c);
      hn::Store(nothing.hi, d, panel.hi + c);
      hn::Store(nothing.abs, I32(), panel.abs + c);
    }
    const std::byte* p = x + first * sizeof(float);
    std::size_t r = 0;
    for (; r + 4 <= rows; r += 4, p += 4 * row_bytes) include_rows<4>(panel, p, width, row_bytes);
    for (; r < rows; ++r, p += row_bytes) include_rows<1>(panel, p, width, row_bytes);
    for (std::size_t c = 0; c < width; ++c) {
      ranges[first + c].merge({panel.lo[c], panel.hi[c], static_cast<std::uint32_t>(panel.abs[c])});
    }
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(range_of_runs);
HWY_EXPORT(range_of_columns);

void range_of_runs(const std::byte* x, std::size_t runs, std::size_t n, Range* ranges) {
  HWY_DYNAMIC_DISPATCH(range_of_runs)(x, runs, n, ranges);
}

void range_of_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      Range* ranges) {
  HWY_DYNAMIC_DISPATCH(range_of_columns)(x, rows, cols, stride, ranges);
}

}  // namespace ounce::kernels
#endif
