// The Gram matrix of a layer's inputs, H = Σ x xᵀ over the rows x that its weights are multiplied with, for
// rounding that keeps outputs (quant/reconstruct.h).
//
//   Gram gram(Unfolding::of_matrix(768), 256);
//   for (each batch) gram.add(values, shape, samples, for_each);
//   const auto matrices = gram.matrices(for_each);  // for LayerToRound::gram
//
// Memory is constant: the upper triangle of H in double, and a block of rows that are yet to be added. The
// result depends neither on the number of threads nor on the CPU nor on how samples were batched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"

namespace ounce::calibration {

// A convolution, as the attributes of ONNX's Conv. An empty list is all ones, or all zeros for pads. The
// kernel's shape decides whether it has 1, 2 or 3 dimensions.
struct Convolution {
  std::int64_t channels = 0;
  std::int64_t groups = 1;
  std::vector<std::int64_t> kernel{}, strides{}, dilations{};
  std::vector<std::int64_t> pads{};  // those at the beginning of each dimension, then those at the end
};

// How a layer's input is unfolded into the rows that its weights are multiplied with: k numbers for every
// output position, in the order of a channel's weights.
//
//   MatMul, Gemm:  input [..., k]             the rows of the input
//   Conv:          input [N, C, spatial ...]  the values under the kernel, zeros in the padding: for each
//                                             channel of the group its taps; each group has its own rows
//
//   Unfolded input(Unfolding::of_convolution({.channels = 64, .kernel = {3, 3}, ...}), values, shape);
//   for (std::uint64_t row = 0; row < input.rows(); ++row) input.copy_row(row, out, stride);
class Unfolding {
 public:
  static Unfolding of_matrix(std::int64_t k);
  // Throws Error{kBadInput} for impossible attributes, Error{kUnsupported} for other dimensions.
  static Unfolding of_convolution(const Convolution& convolution);

  std::size_t groups() const { return groups_; }
  std::size_t k() const { return channels_ * taps_; }  // of one group

 private:
  friend class Unfolded;
  static constexpr std::size_t kMaxDimensions = 3;

  std::size_t groups_ = 1, channels_ = 1, taps_ = 1;               // channels of one group
  std::vector<std::int64_t> kernel_, strides_, dilations_, pads_;  // empty for a matrix
};

// Holds views only: of the values and of the unfolding.
class Unfolded {
 public:
  // Throws Error{kBadInput} if they do not fit.
  Unfolded(const Unfolding& unfolding, std::span<const float> values, std::span<const std::int64_t> shape);

  std::uint64_t rows() const { return rows_; }
  // The row of group g is written to out + g * stride.
  void copy_row(std::uint64_t row, float* out, std::size_t stride);

 private:
  void read_convolution(std::span<const std::int64_t> shape);
  void find_taps(std::uint64_t position);

  const Unfolding& unfolding_;
  std::span<const float> values_;
  std::uint64_t rows_ = 0;
  std::uint64_t positions_ = 1;               // of one image
  std::size_t plane_ = 1;                     // values of one channel of one image
  std::vector<std::int64_t> input_, output_;  // spatial sizes
  std::vector<std::int64_t> taps_;            // where in a plane each tap is, negative in the padding
};

class Gram {
 public:
  static constexpr std::size_t kLargestK = 4608;  // 512 channels of 3 × 3
  static constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

  // The memory for the sums of such a layer; more than kMostMemory if k is beyond kLargestK.
  static std::uint64_t bytes(const Unfolding& unfolding);
  static bool is_too_large(const Unfolding& unfolding) { return bytes(unfolding) > kMostMemory; }

  // A sample that has more rows than `rows_per_sample` (at least 1) gives that many, spread over all of them.
  // Throws Error{kUnsupported} if it is too large.
  Gram(Unfolding unfolding, std::size_t rows_per_sample);

  // Adds a batch. If its samples do not have equally many rows, it counts as a single sample. Rows with
  // values that are not finite, or too large to be squared, are left out.
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

}  // namespace ounce::calibration
