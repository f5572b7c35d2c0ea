#include "kernels/affine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/decode.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/affine-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

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
      // A whole vector runs over into the next run, which is written after this one.
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

// A strip of columns, so wide that a row of it streams well, so narrow that what is kept of it stays in the
// cache.
constexpr std::size_t kPanel = 2048;
struct Panel {
  HWY_ALIGN_MAX float scale[kPanel];
  HWY_ALIGN_MAX float zero[kPanel];
};

template <class Code>
HWY_INLINE void decode_columns_of(const Code* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                                  float* out) {
  const F32 d;
  Panel panel;
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

HWY_EXPORT(decode_runs);
HWY_EXPORT(decode_columns);

void decode_runs(const std::uint8_t* codes, std::size_t runs, std::size_t n, const Affine* affine,
                 CodeSign sign, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_runs)(codes, runs, n, affine, sign, out);
}

void decode_columns(const std::uint8_t* codes, std::size_t rows, std::size_t cols, const Affine* affine,
                    CodeSign sign, float* out) {
  HWY_DYNAMIC_DISPATCH(decode_columns)(codes, rows, cols, affine, sign, out);
}

}  // namespace ounce::kernels
#endif
