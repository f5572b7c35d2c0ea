#include "kernels/affine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/affine.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/affine-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

using Codes = hn::Rebind<std::uint8_t, F32>;

HWY_INLINE hn::Vec<Codes> quantize(VecF x, VecF inverse, StepLimits limits, VecI zero) {
  VecF steps = hn::Mul(x, inverse);
  // Min and max treat NaN differently on different CPUs.
  steps = hn::IfThenElseZero(hn::Eq(steps, steps), steps);
  const VecI code = hn::Add(hn::NearestInt(clamp(steps, limits)), zero);
  return hn::TruncateTo(Codes(), hn::BitCast(hn::RebindToUnsigned<I32>(), code));
}

HWY_INLINE void store_first(hn::Vec<Codes> v, std::size_t n, std::uint8_t* codes) {
  HWY_ALIGN std::uint8_t lanes[kLanes];
  hn::Store(v, Codes(), lanes);
  std::memcpy(codes, lanes, n);
}

void quantize_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* affine, CodeRange range,
                   std::uint8_t* codes) {
  const F32 d;
  std::size_t left = runs * n;  // elements from here to the end of the last run
  for (std::size_t r = 0; r < runs; ++r) {
    const AffineLanes a = same_in_all_lanes(affine[r]);
    const StepLimits limits = step_limits(range, a.zero);
    const VecI zero = hn::NearestInt(a.zero);
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      hn::StoreU(quantize(load(d, x + i * sizeof(float)), a.inverse, limits, zero), Codes(), codes + i);
    }
    if (i < n) {
      const std::byte* p = x + i * sizeof(float);
      if (left - i >= kLanes) {
        // A whole vector may extend into the next run, which is written after this one.
        hn::StoreU(quantize(load(d, p), a.inverse, limits, zero), Codes(), codes + i);
      } else {
        store_first(quantize(load_first(d, p, n - i), a.inverse, limits, zero), n - i, codes + i);
      }
    }
    x += n * sizeof(float);
    codes += n;
    left -= n;
  }
}

// The width of a strip of columns: wide enough to stream its rows, narrow enough to keep its state in the
// cache.
constexpr std::size_t kPanel = 2048;
struct Panel {
  HWY_ALIGN_MAX float inverse[kPanel];
  HWY_ALIGN_MAX float lo[kPanel];
  HWY_ALIGN_MAX float hi[kPanel];
  HWY_ALIGN_MAX std::int32_t zero[kPanel];
};

HWY_INLINE void fill(Panel& panel, const Affine* affine, std::size_t cols, CodeRange range) {
  const F32 d;
  for (std::size_t c = 0; c < cols; c += kLanes) {
    const AffineLanes a = one_in_each_lane(affine + c, cols - c);
    const StepLimits limits = step_limits(range, a.zero);
    hn::Store(a.inverse, d, panel.inverse + c);
    hn::Store(limits.lo, d, panel.lo + c);
    hn::Store(limits.hi, d, panel.hi + c);
    hn::Store(hn::NearestInt(a.zero), I32(), panel.zero + c);
  }
}

HWY_INLINE hn::Vec<Codes> quantize_at(const Panel& panel, std::size_t c, VecF x) {
  const F32 d;
  return quantize(x, hn::Load(d, panel.inverse + c), {hn::Load(d, panel.lo + c), hn::Load(d, panel.hi + c)},
                  hn::Load(I32(), panel.zero + c));
}

// Symmetric formats have the same zero point, and so the same limits, in every column.
HWY_INLINE bool has_one_zero(const Affine* affine, std::size_t cols) {
  return std::all_of(affine, affine + cols, [&](const Affine& a) { return a.zero == affine->zero; });
}

template <bool kOneZero>
HWY_INLINE void quantize_rows(const Panel& panel, const std::byte* x, std::size_t rows, std::size_t width,
                              std::size_t row_bytes, std::size_t cols, std::uint8_t* codes) {
  const F32 d;
  const StepLimits limits{hn::Load(d, panel.lo), hn::Load(d, panel.hi)};
  const VecI zero = hn::Load(I32(), panel.zero);
  const auto code_at = [&](std::size_t c, VecF values) HWY_ATTR {
    if constexpr (kOneZero) return quantize(values, hn::Load(d, panel.inverse + c), limits, zero);
    return quantize_at(panel, c, values);
  };
  for (std::size_t r = 0; r < rows; ++r, x += row_bytes, codes += cols) {
    std::size_t c = 0;
    for (; c + kLanes <= width; c += kLanes)
      hn::StoreU(code_at(c, load(d, x + c * sizeof(float))), Codes(), codes + c);
    if (c < width)
      store_first(code_at(c, load_first(d, x + c * sizeof(float), width - c)), width - c, codes + c);
  }
}

void quantize_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      const Affine* affine, CodeRange range, std::uint8_t* codes) {
  Panel panel;
  for (std::size_t first = 0; first < cols; first += kPanel) {
    const std::size_t width = std::min(kPanel, cols - first);
    fill(panel, affine + first, width, range);
    const std::byte* top = x + first * sizeof(float);
    if (width >= kLanes && has_one_zero(affine + first, width)) {
      quantize_rows<true>(panel, top, rows, width, stride * sizeof(float), cols, codes + first);
    } else {
      quantize_rows<false>(panel, top, rows, width, stride * sizeof(float), cols, codes + first);
    }
  }
}

template <class Code>
HWY_INLINE VecF decode(const Code* codes, VecF scale, VecF zero) {
  const VecI code = hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<Code, F32>(), codes));
  return hn::Mul(hn::Sub(hn::ConvertTo(F32(), code), zero), scale);
}

template <class Code>
HWY_INLINE void decode_first(const Code* codes, std::size_t n, VecF scale, VecF zero, float* out) {
  Code padded[kLanes] = {};
  std::memcpy(padded, codes, n);
  HWY_ALIGN float lanes[kLanes];
  hn::Store(decode(padded, scale, zero), F32(), lanes);
  std::memcpy(out, lanes, n * sizeof(float));
}

template <class Code>
HWY_INLINE void decode_runs_of(const Code* codes, std::size_t runs, std::size_t n, const Affine* affine,
                               float* out) {
  std::size_t left = runs * n;  // elements from here to the end of the last run
  for (std::size_t r = 0; r < runs; ++r) {
    const AffineLanes a = same_in_all_lanes(affine[r]);
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) hn::StoreU(decode(codes + i, a.scale, a.zero), F32(), out + i);
    if (i < n) {
      // A whole vector may extend into the next run, which is written after this one.
      if (left - i >= kLanes) {
        hn::StoreU(decode(codes + i, a.scale, a.zero), F32(), out + i);
      } else {
        decode_first(codes + i, n - i, a.scale, a.zero, out + i);
      }
    }
    codes += n;
    out += n;
    left -= n;
  }
}

struct DecodePanel {
  HWY_ALIGN_MAX float scale[kPanel];
  HWY_ALIGN_MAX float zero[kPanel];
};

template <class Code>
HWY_INLINE void decode_columns_of(const Code* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                                  float* out) {
  const F32 d;
  DecodePanel panel;
  for (std::size_t first = 0; first < cols; first += kPanel) {
    const std::size_t width = std::min(kPanel, cols - first);
    for (std::size_t c = 0; c < width; c += kLanes) {
      const AffineLanes a = one_in_each_lane(affine + first + c, width - c);
      hn::Store(a.scale, d, panel.scale + c);
      hn::Store(a.zero, d, panel.zero + c);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const Code* row = codes + r * cols + first;
      float* to = out + r * cols + first;
      std::size_t c = 0;
      for (; c + kLanes <= width; c += kLanes) {
        hn::StoreU(decode(row + c, hn::Load(d, panel.scale + c), hn::Load(d, panel.zero + c)), d, to + c);
      }
      if (c < width) {
        decode_first(row + c, width - c, hn::Load(d, panel.scale + c), hn::Load(d, panel.zero + c), to + c);
      }
    }
  }
}

void decode_runs(const std::uint8_t* codes, std::size_t runs, std::size_t n, const Affine* affine,
                 CodeSign sign, float* out) {
  if (sign == CodeSign::kSigned) {
    decode_runs_of(reinterpret_cast<const std::int8_t*>(codes), runs, n, affine, out);
  } else {
    decode_runs_of(codes, runs, n, affine, out);
  }
}

void decode_columns(const std::uint8_t* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                    CodeSign sign, float* out) {
  if (sign == CodeSign::kSigned) {
    decode_columns_of(reinterpret_cast<const std::int8_t*>(codes), rows, cols, affine, out);
  } else {
    decode_columns_of(codes, rows, cols, affine, out);
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(quantize_runs);
HWY_EXPORT(quantize_columns);
HWY_EXPORT(decode_runs);
HWY_EXPORT(decode_columns);

void quantize_runs(const std::byte* x, std::size_t runs, std::size_t n, const Affine* affine, CodeRange range,
                   std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(quantize_runs)(x, runs, n, affine, range, codes);
}

void quantize_columns(const std::byte* x, std::size_t rows, std::size_t cols, std::size_t stride,
                      const Affine* affine, CodeRange range, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(quantize_columns)(x, rows, cols, stride, affine, range, codes);
}

void decode_runs(const std::uint8_t* codes, std::size_t runs, std::size_t n, const Affine* affine,
                 CodeSign sign, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_runs)(codes, runs, n, affine, sign, out);
}

void decode_columns(const std::uint8_t* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                    CodeSign sign, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_columns)(codes, rows, cols, affine, sign, out);
}

std::vector<std::string> built_targets() {
  std::vector<std::string> names;
  // One bit per instruction set, the best one lowest.
  constexpr std::uint64_t kBuilt = HWY_TARGETS;
  for (std::uint64_t target = 1; target != 0; target <<= 1) {
    if ((kBuilt & target) != 0) names.emplace_back(hwy::TargetName(static_cast<std::int64_t>(target)));
  }
  return names;
}

}  // namespace ounce::kernels
#endif
