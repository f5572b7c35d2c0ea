// Finds the best codebook for a weight: the k values with the smallest squared error if every weight is
// replaced by the nearest of them (one-dimensional k-means). Works for weights of any size in bounded memory:
//
//   CodebookFitter fitter(range.min, range.max);
//   fitter.add(x, n);                                      // as often as needed; merge() joins fitters
//   const std::vector<float> codebook = fitter.fit(16);    // ascending
//   kernels::encode_nearest(x, n, boundaries(codebook).data(), codebook.size(), codes);
//
// Values are counted in bins that have the resolution of 16-bit floats, so 16-bit weights are counted
// exactly. Each bin keeps the mean of its values. The fit starts from the exact optimum (dynamic programming)
// over at most 4096 points: the bins, or groups of neighbors if there are more. Lloyd's iteration and dynamic
// programming in windows around each boundary then refine it over all bins.
//
// Exact zeros (pruned weights) are counted separately. If they are more than 1/k of the values, the entry
// nearest to zero is fixed at zero, so that pruned weights remain exactly zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ounce::quant {

struct CodebookPoint {
  double value = 0, weight = 0;
};

class CodebookFitter {
 public:
  // The range of the values. Values outside of it may be skipped.
  CodebookFitter(float min, float max);
  CodebookFitter() : CodebookFitter(0, 0) {}  // for add_halves()

  // n little-endian binary32 values at any alignment. Values that are not finite are skipped.
  void add(const std::byte* x, std::size_t n) { add(x, nullptr, n); }
  // The same with a weight for each value, by which its squared error is multiplied.
  void add(const std::byte* x, const float* weights, std::size_t n);
  // n little-endian 16-bit floats.
  void add_halves(const std::byte* x, std::size_t n);
  void forget_zeros();                      // they are stored in another way
  void merge(const CodebookFitter& other);  // must have the same range

  // Returns `entries` ascending values. If there are fewer distinct values, the last one is repeated; without
  // any values, all entries are zero.
  std::vector<float> fit(std::size_t entries) const;
  // The squared error of the values added so far if each becomes the nearest entry.
  double error(const std::vector<float>& codebook) const;

 private:
  struct Bin {
    double weight = 0;
    double residual = 0;  // weighted sum of the differences between values and the bin's 16-bit float
  };

  std::vector<CodebookPoint> points() const;  // ascending

  double scale_ = 1;       // a power of two, so that the largest magnitude is a large 16-bit float
  std::vector<Bin> bins_;  // by the bits of the 16-bit float
  double zeros_ = 0;
};

// The same for few values, all of them finite.
std::vector<float> fit_codebook(std::vector<float> values, std::size_t entries);

// The midpoints between neighbors: entries - 1 ascending values.
std::vector<float> boundaries(const std::vector<float>& codebook);

}  // namespace ounce::quant
