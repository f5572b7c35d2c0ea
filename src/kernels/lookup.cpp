#include "kernels/pack.h"

#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lookup.cpp"
#include "kernels/simd_targets.h"
#include <hwy/foreach_target.h>
#include "kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ounce::kernels::HWY_NAMESPACE {
namespace {

using Codes = hn::Rebind<std::uint8_t, F32>;

// The boundaries as a search tree in breadth-first order: level j is at node[2^j .. 2^(j+1)), so a small
// level fits in a register. Missing boundaries are +inf, so no value is above them.
struct Tree {
  float node[256 + 2 * kSumLanes];  // loads of a small level may read into the next ones
};

HWY_INLINE void build(Tree& tree, const float* boundaries, std::size_t k, std::size_t levels) {
  std::fill(std::begin(tree.node), std::end(tree.node), std::numeric_limits<float>::infinity());
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t below = std::size_t{1} << (levels - level - 1);  // indices on either side of a node
    for (std::size_t i = 0; i < std::size_t{1} << level; ++i) {
      const std::size_t boundary = 2 * below * i + below - 1;
      if (boundary + 1 < k) tree.node[(std::size_t{1} << level) + i] = boundaries[boundary];
    }
  }
}

// The number of registers up to which a level is kept in registers; beyond, memory access is faster.
#if HWY_TARGET == HWY_AVX3
constexpr std::size_t kTablesMax = 8;
#elif HWY_TARGET == HWY_AVX2
constexpr std::size_t kTablesMax = 4;
#else
constexpr std::size_t kTablesMax = 2;
#endif

// nodes[at] for at < kTables * kLanes: looks up each table, and selects the result by the bits of `at` above
// the lane.
template <std::size_t kTables, class Lane>
HWY_INLINE VecF pick(const float* nodes, Lane lane, VecI at) {
  const F32 d;
  if constexpr (kTables == 1) {
    return hn::TableLookupLanes(hn::LoadU(d, nodes), lane);
  } else {
    constexpr std::size_t kHalf = kTables / 2 * kLanes;
    const VecF low = pick<kTables / 2>(nodes, lane, at);
    const VecF high = pick<kTables / 2>(nodes + kHalf, lane, at);
    return hn::IfThenElse(
        hn::RebindMask(d, hn::TestBit(at, hn::Set(I32(), static_cast<std::int32_t>(kHalf)))), high, low);
  }
}

// The boundaries of one level, for the current node of each lane.
template <std::size_t kLevel>
HWY_INLINE VecF boundaries_at(const Tree& tree, VecI at) {
  const F32 d;
  constexpr std::size_t kSize = std::size_t{1} << kLevel;
  const float* nodes = tree.node + kSize;
  if constexpr (kSize == 1) {
    return hn::Set(d, nodes[0]);
  } else if constexpr (kSize <= kLanes) {
    return pick<1>(nodes, hn::IndicesFromVec(d, at), at);
  } else if constexpr (kSize <= kTablesMax * kLanes) {
    const VecI lane = hn::And(at, hn::Set(I32(), static_cast<std::int32_t>(kLanes - 1)));
    return pick<kSize / kLanes>(nodes, hn::IndicesFromVec(d, lane), at);
  } else {
    return hn::GatherIndex(d, nodes, at);
  }
}

template <std::size_t kLevel, std::size_t kLevels>
HWY_INLINE VecI descend(const Tree& tree, VecF x, VecI at) {
  if constexpr (kLevel == kLevels) {
    return at;
  } else {
    const I32 d;
    const VecI right = hn::VecFromMask(d, hn::RebindMask(d, hn::Gt(x, boundaries_at<kLevel>(tree, at))));
    return descend<kLevel + 1, kLevels>(tree, x, hn::Sub(hn::Add(at, at), right));  // a true lane is -1
  }
}

template <std::size_t kLevels>
HWY_INLINE hn::Vec<Codes> encode(const Tree& tree, VecF x) {
  const VecI code = descend<0, kLevels>(tree, x, hn::Zero(I32()));
  return hn::TruncateTo(Codes(), hn::BitCast(hn::RebindToUnsigned<I32>(), code));
}

template <std::size_t kLevels>
HWY_NOINLINE void encode_all(const std::byte* x, std::size_t n, const Tree& tree, std::uint8_t* codes) {
  const F32 d;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(encode<kLevels>(tree, load(d, x + i * sizeof(float))), Codes(), codes + i);
  }
  if (i < n) {
    HWY_ALIGN std::uint8_t lanes[kLanes];
    hn::Store(encode<kLevels>(tree, load_first(d, x + i * sizeof(float), n - i)), Codes(), lanes);
    std::memcpy(codes + i, lanes, n - i);
  }
}

void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes) {
  const auto levels = k < 2 ? std::size_t{0} : static_cast<std::size_t>(std::bit_width(k - 1));
  Tree tree;
  build(tree, boundaries, k, levels);
  switch (levels) {
    case 0: std::memset(codes, 0, n); break;
    case 1: encode_all<1>(x, n, tree, codes); break;
    case 2: encode_all<2>(x, n, tree, codes); break;
    case 3: encode_all<3>(x, n, tree, codes); break;
    case 4: encode_all<4>(x, n, tree, codes); break;
    case 5: encode_all<5>(x, n, tree, codes); break;
    case 6: encode_all<6>(x, n, tree, codes); break;
    case 7: encode_all<7>(x, n, tree, codes); break;
    default: encode_all<8>(x, n, tree, codes); break;
  }
}

}  // namespace
}  // namespace ounce::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ounce::kernels {

HWY_EXPORT(encode_nearest);

void encode_nearest(const std::byte* x, std::size_t n, const float* boundaries, std::size_t k,
                    std::uint8_t* codes) {
  if (n != 0) HWY_DYNAMIC_DISPATCH(encode_nearest)(x, n, boundaries, k, codes);
}

// Two loads and a store per element: a gather is not faster on current CPUs.
void decode_lookup(const std::uint8_t* codes, std::size_t n, const float* codebook, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = codebook[codes[i]];
}

}  // namespace ounce::kernels
#endif
