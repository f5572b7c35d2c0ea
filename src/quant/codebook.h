// The best codebook for a weight: the k values that, when every weight is replaced by the nearest of them,
// leave the smallest squared error (one-dimensional k-means). For a weight of any size, in bounded memory:
//
//   CodebookFitter fitter(range.min, range.max);
//   fitter.add(x, n);                                      // as often as needed; merge() joins fitters
//   const std::vector<float> codebook = fitter.fit(16);    // ascending
//   kernels::encode_nearest(x, n, boundaries(codebook).data(), codebook.size(), codes);
//
// Values are counted in 65536 bins of equal width; a bin keeps the mean of its values, or the value itself
// if it has only one. All counting is in integers, so the order and the cuts of add() and merge() do not
// matter: the same values give the same codebook. The fit starts from the exact optimum (dynamic programming)
// over at most 4096 points: the bins themselves, or groups of neighbours if there are more. Lloyd's iteration
// over every bin then settles it.
//
// Exact zeros (pruned weights) are counted apart. If they are more than one in k, the entry nearest to zero
// is zero itself and stays so, since a pruned weight that comes back as 1e-5 is not pruned any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ounce::quant {

class CodebookFitter {
 public:
  // Of the values to come; one outside is counted in the nearest bin.
  CodebookFitter(float min, float max);

  // n little-endian binary32 values at any alignment. What is not finite is passed over.
  void add(const std::byte* x, std::size_t n);
  void merge(const CodebookFitter& other);  // of the same range

  // `entries` ascending values. Fewer distinct values than entries: the last one is repeated. No values:
  // zeros.
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

// The midpoints between neighbours: entries - 1 of them, ascending.
std::vector<float> boundaries(const std::vector<float>& codebook);

}  // namespace ounce::quant
