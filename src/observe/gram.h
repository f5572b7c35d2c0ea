// What a layer's inputs have in common: H = Σ x xᵀ over the rows x that its weights are multiplied with (see
// unfold.h), for rounding that keeps outputs (quant/reconstruct.h).
//
//   Gram gram(Unfolding::of_matrix(768), 256);
//   for (each batch) gram.add(values, shape, samples, for_each);
//   const auto matrices = gram.matrices(for_each);  // for LayerToRound::gram
//
// Memory is constant: the upper triangle of H in double, and a block of rows that are yet to be added. The
// result depends neither on the number of threads nor on the CPU, nor on how samples were put into batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/jobs.h"
#include "observe/unfold.h"

namespace ounce::observe {

class Gram {
 public:
  static constexpr std::size_t kLargestK = 4608;  // 512 channels of 3 × 3
  static constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

  // What the sums of such a layer take; more than kMostMemory if k is beyond kLargestK.
  static std::uint64_t bytes(const Unfolding& unfolding);
  static bool is_too_large(const Unfolding& unfolding) { return bytes(unfolding) > kMostMemory; }

  // A sample that has more rows than `rows_per_sample` (at least 1) gives that many, spread over all of them.
  // Throws Error{kUnsupported} if it is too large.
  Gram(Unfolding unfolding, std::size_t rows_per_sample);

  // A batch. If its rows cannot be shared out evenly among its samples it counts as a single sample. Rows
  // with values that are not finite, or too large to be squared, are left out.
  void add(std::span<const float> values, std::span<const std::int64_t> shape, std::size_t samples,
           const ForEach& for_each);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t left_out() const { return left_out_; }
  std::size_t k() const { return unfolding_.k(); }

  // H divided by the number of rows, k × k, for each group; zeros if there were none.
  std::vector<std::vector<float>> matrices(const ForEach& for_each);

 private:
  struct Tile {
    std::size_t top, left, height, width, offset;
  };

  void add_sample(Unfolded& input, std::uint64_t first, std::uint64_t rows, const ForEach& for_each);
  void add_row(Unfolded& input, std::uint64_t row, const ForEach& for_each);
  void add_pending(const ForEach& for_each);
  float* pending_row(std::size_t group, std::size_t row);

  Unfolding unfolding_;
  std::size_t rows_per_sample_;
  std::size_t stride_;           // k, padded
  std::size_t block_;            // rows that are added at once
  std::vector<Tile> tiles_;      // the upper triangle of one group's H
  std::size_t tile_values_ = 0;  // of one group
  std::vector<double> sums_;     // tile by tile, group by group
  std::vector<float> pending_;   // block_ rows of each group
  std::size_t pending_rows_ = 0;
  std::vector<float> candidate_;  // a row of each group
  std::uint64_t rows_ = 0, left_out_ = 0, samples_ = 0;
};

}  // namespace ounce::observe
