// Finds the best codebook for a weight: the k values with the smallest squared error if every weight is
// replaced by the nearest of them (one-dimensional k-means). Works for weights of any size in bounded memory:
//
//   CodebookFitter fitter(range.min, range.max);
//   fitter.add(x, n);                                      // as often as needed; merge() joins fitters
//   const std::vector<float> codebook = fitter.fit(16);    // ascending
//   kernels::encode_nearest(x, n, boundaries(codebook).data(), codebook.size(), codes);
//
// Values are counted in 65536 bins of equal width. A bin keeps the mean of its values, or the value itself if
// there is only one. Counting uses integers, so the order of add() and merge() and the split of the data do
// not matter: the same values give the same codebook. The fit starts from the exact optimum (dynamic
// programming) over at most 4096 points: the bins, or groups of neighbors if there are more. Lloyd's
// iteration over all bins then refines it.
//
// Exact zeros (pruned weights) are counted separately. If they are more than 1/k of the values, the entry
// nearest to zero is fixed at zero, so that pruned weights remain exactly zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ounce::quant {

class CodebookFitter {
 public:
  // The range of the values. Values outside of it count in the nearest bin.
  CodebookFitter(float min, float max);

  // n little-endian binary32 values at any alignment. Values that are not finite are skipped.
  void add(const std::byte* x, std::size_t n);
  void merge(const CodebookFitter& other);  // must have the same range

  // Returns `entries` ascending values. If there are fewer distinct values, the last one is repeated; without
  // any values, all entries are zero.
  std::vector<float> fit(std::size_t entries) const;

 private:
  struct Bin {
    std::uint64_t count = 0;
    std::uint64_t offset = 0;  // sum of the distances from the bin's lower edge, in 2^-kOffsetBits of a bin
    float first = 0;
    bool mixed = false;  // some values differ from the first one
  };

  double value_of(std::size_t bin) const;

  double min_ = 0;
  double bin_width_ = 0;
  double bins_per_unit_ = 0;
  std::vector<Bin> bins_;
  std::uint64_t zeros_ = 0;
};

// The midpoints between neighbors: entries - 1 ascending values.
std::vector<float> boundaries(const std::vector<float>& codebook);

}  // namespace ounce::quant
