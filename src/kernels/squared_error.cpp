#include "kernels/affine.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/squared_error.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include "kernels/affine-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

// Candidates evaluated on a vector while it is in a register, limited by the number of registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kGroup = 4;
#else
constexpr std::size_t kGroup = 2;
#endif

struct Candidate {
  VecF inverse, scale;
  StepLimits limits;
};

template <bool kClamp>
HWY_INLINE VecF squared_error(VecF x, const Candidate& candidate) {
  VecF steps = hn::Mul(x, candidate.inverse);
  if constexpr (kClamp) steps = clamp(steps, candidate.limits);
  const VecF error = hn::Sub(x, hn::Mul(round_half_even(steps), candidate.scale));
  return hn::Mul(error, error);
}

// One block of one run: updates error[k * step] for candidates[k * step], k < kCount.
template <std::size_t kCount, bool kClamp>
HWY_INLINE void add_block(const std::byte* x, std::size_t n, const Affine* candidates, std::size_t step,
                          CodeRange range, double* error) {
  const F32 d;
  Candidate candidate[kCount];
  VecF sums[kCount][kSumVectors];
  OUNCE_UNROLL
  for (std::size_t k = 0; k < kCount; ++k) {
    const AffineLanes a = same_in_all_lanes(candidates[k * step]);
    candidate[k] = {a.inverse, a.scale, step_limits(range, a.zero)};
    OUNCE_UNROLL
    for (std::size_t v = 0; v < kSumVectors; ++v) sums[k][v] = hn::Zero(d);
  }
  std::size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    OUNCE_UNROLL
    for (std::size_t v = 0; v < kSumVectors; ++v) {
      const VecF values = load(d, x + (i + v * kLanes) * sizeof(float));
      OUNCE_UNROLL
      for (std::size_t k = 0; k < kCount; ++k) {
        sums[k][v] = hn::Add(sums[k][v], squared_error<kClamp>(values, candidate[k]));
      }
    }
  }
  if (i < n) {
    OUNCE_UNROLL
    for (std::size_t v = 0; v < kSumVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      if (at >= n) continue;
      const std::size_t lanes = std::min(kLanes, n - at);
      const std::byte* p = x + at * sizeof(float);
      const VecF values = lanes == kLanes ? load(d, p) : load_first(d, p, lanes);
      const auto real = hn::FirstN(d, lanes);
      OUNCE_UNROLL
      for (std::size_t k = 0; k < kCount; ++k) {
        sums[k][v] =
            hn::Add(sums[k][v], hn::IfThenElseZero(real, squared_error<kClamp>(values, candidate[k])));
      }
    }
  }
  OUNCE_UNROLL
  for (std::size_t k = 0; k < kCount; ++k) error[k * step] += static_cast<double>(fold_sums(sums[k]));
}

struct Span {
  float lo, hi;
};

// n >= kLanes. If there is a NaN, the span is arbitrary, but then the sum is NaN in any case.
HWY_INLINE Span span_of(const std::byte* x, std::size_t n) {
  const F32 d;
  VecF lo = load(d, x + (n - kLanes) * sizeof(float));
  VecF hi = lo;
  for (std::size_t i = 0; i + kLanes <= n; i += kLanes) {
    const VecF v = load(d, x + i * sizeof(float));
    lo = hn::Min(lo, v);
    hi = hn::Max(hi, v);
  }
  return {fold_lanes(d, lo, MinOp()), fold_lanes(d, hi, MaxOp())};
}

// Multiplication is monotone, so if neither end clips, no value in between does.
HWY_INLINE bool never_clips(Span span, const Affine& a, CodeRange range) {
  return a.inverse >= 0 && span.lo * a.inverse >= static_cast<float>(range.lo) - a.zero &&
         span.hi * a.inverse <= static_cast<float>(range.hi) - a.zero;
}

// From this length on, computing the span of a block costs less than the clamps that it saves.
constexpr std::size_t kSpanWorthwhile = 256;

template <std::size_t kCount>
HWY_INLINE void add_group(const std::byte* x, std::size_t n, const Span* span, const Affine* candidates,
                          std::size_t step, CodeRange range, double* error) {
  bool clamp_needed = span == nullptr;
  for (std::size_t k = 0; k < kCount && !clamp_needed; ++k) {
    clamp_needed = !never_clips(*span, candidates[k * step], range);
  }
  if (clamp_needed) {
    add_block<kCount, true>(x, n, candidates, step, range, error);
  } else {
    add_block<kCount, false>(x, n, candidates, step, range, error);
  }
}

void squared_error_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* candidates,
                        std::size_t count, CodeRange range, double* error) {
  for (std::size_t r = 0; r < runs; ++r) {
    for (std::size_t first = 0; first < n; first += kRunBlock) {
      const std::size_t length = std::min(kRunBlock, n - first);
      const std::byte* block = x + (r * n + first) * sizeof(float);
      const bool with_span = length >= kSpanWorthwhile && count >= kGroup;
      const Span span = with_span ? span_of(block, length) : Span{};
      const Span* known = with_span ? &span : nullptr;
      std::size_t k = 0;
      for (; k + kGroup <= count; k += kGroup) {
        add_group<kGroup>(block, length, known, candidates + k * runs + r, runs, range, error + k * runs + r);
      }
      for (; k < count; ++k) {
        add_group<1>(block, length, known, candidates + k * runs + r, runs, range, error + k * runs + r);
      }
    }
  }
}

// Columns: a strip of kPanel columns is processed in tiles of kTileRows rows. Each tile is copied to a dense
// buffer, because rows at power-of-two distances would evict each other from the cache; then all candidates
// of the batch are evaluated on it.
constexpr std::size_t kPanel = 128;
constexpr std::size_t kTileRows = 16;
constexpr std::size_t kBatch = 8;

struct ColumnLanes {
  HWY_ALIGN_MAX float inverse[kPanel];
  HWY_ALIGN_MAX float scale[kPanel];
  HWY_ALIGN_MAX float lo[kPanel];
  HWY_ALIGN_MAX float hi[kPanel];
  HWY_ALIGN_MAX float sum[kPanel];
};

HWY_INLINE void start(ColumnLanes& lanes, const Affine* affine, std::size_t cols, CodeRange range) {
  const F32 d;
  for (std::size_t c = 0; c < cols; c += kLanes) {
    const AffineLanes a = one_in_each_lane(affine + c, cols - c);
    const StepLimits limits = step_limits(range, a.zero);
    hn::Store(a.inverse, d, lanes.inverse + c);
    hn::Store(a.scale, d, lanes.scale + c);
    hn::Store(limits.lo, d, lanes.lo + c);
    hn::Store(limits.hi, d, lanes.hi + c);
    hn::Store(hn::Zero(d), d, lanes.sum + c);
  }
}

struct Tile {
  HWY_ALIGN_MAX float row[kTileRows][kPanel];
};

// Columns beyond `width` are filled with zeros up to a whole vector.
HWY_INLINE void copy(Tile& tile, const std::byte* x, std::size_t rows, std::size_t row_bytes,
                     std::size_t width) {
  const F32 d;
  for (std::size_t r = 0; r < rows; ++r, x += row_bytes) {
    std::size_t c = 0;
    for (; c + kLanes <= width; c += kLanes) hn::Store(load(d, x + c * sizeof(float)), d, tile.row[r] + c);
    if (c < width) hn::Store(load_first(d, x + c * sizeof(float), width - c), d, tile.row[r] + c);
  }
}

HWY_INLINE void prefetch(const std::byte* x, std::size_t rows, std::size_t row_bytes, std::size_t width) {
  constexpr std::size_t kLine = 64;
  for (std::size_t r = 0; r < rows; ++r, x += row_bytes) {
    for (std::size_t at = 0; at < width * sizeof(float); at += kLine) hwy::Prefetch(x + at);
  }
}

// One vector of columns over the rows of a tile.
template <std::size_t kCount>
HWY_INLINE void add_tile(const Tile& tile, std::size_t rows, std::size_t c, ColumnLanes* lanes) {
  const F32 d;
  Candidate candidate[kCount];
  VecF sums[kCount];
  OUNCE_UNROLL
  for (std::size_t k = 0; k < kCount; ++k) {
    const ColumnLanes& l = lanes[k];
    const StepLimits limits{hn::Load(d, l.lo + c), hn::Load(d, l.hi + c)};
    candidate[k] = {hn::Load(d, l.inverse + c), hn::Load(d, l.scale + c), limits};
    sums[k] = hn::Load(d, l.sum + c);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const VecF values = hn::Load(d, tile.row[r] + c);
    OUNCE_UNROLL
    for (std::size_t k = 0; k < kCount; ++k)
      sums[k] = hn::Add(sums[k], squared_error<true>(values, candidate[k]));
  }
  OUNCE_UNROLL
  for (std::size_t k = 0; k < kCount; ++k) hn::Store(sums[k], d, lanes[k].sum + c);
}

// A batch of candidates on one block of rows of one strip.
HWY_INLINE void add_panel(const std::byte* x, std::size_t rows, std::size_t row_bytes, std::size_t width,
                          std::size_t batch, ColumnLanes* lanes) {
  Tile tile;
  for (std::size_t r = 0; r < rows; r += kTileRows) {
    const std::size_t height = std::min(kTileRows, rows - r);
    const std::byte* top = x + r * row_bytes;
    copy(tile, top, height, row_bytes, width);
    const std::size_t after = r + height;
    prefetch(x + after * row_bytes, std::min(kTileRows, rows - after), row_bytes, width);
    for (std::size_t c = 0; c < width; c += kLanes) {
      std::size_t k = 0;
      for (; k + kGroup <= batch; k += kGroup) add_tile<kGroup>(tile, height, c, lanes + k);
      for (; k < batch; ++k) add_tile<1>(tile, height, c, lanes + k);
    }
  }
}

void squared_error_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                           const Affine* candidates, std::size_t count, CodeRange range, double* error) {
  const std::size_t row_bytes = stride * sizeof(float);
  ColumnLanes lanes[kBatch];
  for (std::size_t top = 0; top < rows; top += kRowBlock) {
    const std::size_t height = std::min(kRowBlock, rows - top);
    for (std::size_t left = 0; left < cols; left += kPanel) {
      const std::size_t width = std::min(kPanel, cols - left);
      const std::byte* block = x + top * row_bytes + left * sizeof(float);
      for (std::size_t first = 0; first < count; first += kBatch) {
        const std::size_t batch = std::min(kBatch, count - first);
        for (std::size_t k = 0; k < batch; ++k)
          start(lanes[k], candidates + (first + k) * cols + left, width, range);
        add_panel(block, height, row_bytes, width, batch, lanes);
        for (std::size_t k = 0; k < batch; ++k) {
          double* to = error + (first + k) * cols + left;
          for (std::size_t c = 0; c < width; ++c) to[c] += static_cast<double>(lanes[k].sum[c]);
        }
      }
    }
  }
}

struct BlockNorms {
  VecF signal[kSumVectors], noise[kSumVectors];
  VecI max_abs;  // as bits: integer comparison preserves a NaN

  HWY_INLINE void see(std::size_t v, VecF x, VecF y) {
    const VecF error = hn::Sub(x, y);
    signal[v] = hn::Add(signal[v], hn::Mul(x, x));
    noise[v] = hn::Add(noise[v], hn::Mul(error, error));
    max_abs = hn::Max(max_abs, hn::And(hn::BitCast(I32(), error), hn::Set(I32(), 0x7fffffff)));
  }
};

HWY_INLINE void add_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms) {
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
    add_norms(x + i * sizeof(float), y + i, std::min(kRunBlock, n - i), norms);
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(squared_error_runs);
HWY_EXPORT(squared_error_columns);
HWY_EXPORT(error_norms);

void squared_error_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* candidates,
                        std::size_t count, CodeRange range, double* error) {
  HWY_DYNAMIC_DISPATCH(squared_error_runs)(x, runs, n, candidates, count, range, error);
}

void squared_error_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                           const Affine* candidates, std::size_t count, CodeRange range, double* error) {
  HWY_DYNAMIC_DISPATCH(squared_error_columns)(x, rows, cols, stride, candidates, count, range, error);
}

void error_norms(const std::byte* x, const float* y, std::size_t n, ErrorNorms& norms) {
  HWY_DYNAMIC_DISPATCH(error_norms)(x, y, n, norms);
}

}  // namespace ounce::kernels
#endif
