// The Gram matrix of a layer's inputs: H = Σ x xᵀ over the rows x that its weights are multiplied by. Used by
// GPTQ and adaptive rounding (quant/reconstruct.h).
//
//   Gram gram(Unfolding::of_matrix(768), 256);
//   for (each batch) gram.add(values, shape, samples, for_each);
//   const auto matrices = gram.matrices(for_each);  // for LayerToRound::gram
//
// Memory is constant: the upper triangle of H in double precision and a block of pending rows. The result
// does not depend on the number of threads, the CPU or the batch size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"

namespace ounce::calibration {

// The attributes of ONNX's Conv. An empty list means ones (zeros for pads). The kernel has 1, 2 or 3
// dimensions.
struct Convolution {
  std::int64_t channels = 0;
  std::int64_t groups = 1;
  std::vector<std::int64_t> kernel{}, strides{}, dilations{};
  std::vector<std::int64_t> pads{};  // at the beginning of each dimension, then at the end of each
};

// Unfolds a layer's input into the rows that its weights are multiplied by (im2col): k numbers for each
// output position, in the order of a channel's weights.
//
//   MatMul, Gemm:  input [..., k]             the rows of the input
//   Conv:          input [N, C, spatial ...]  the values under the kernel, channel by channel, with zeros for
//                                             padding; each group has its own rows
//
//   Unfolded input(Unfolding::of_convolution({.channels = 64, .kernel = {3, 3}, ...}), values, shape);
//   for (std::uint64_t row = 0; row < input.rows(); ++row) input.copy_row(row, out, stride);
class Unfolding {
 public:
  static Unfolding of_matrix(std::int64_t k);
  // Throws Error{kBadInput} for invalid attributes, Error{kUnsupported} for more than 3 dimensions.
  static Unfolding of_convolution(const Convolution& convolution);

  std::size_t groups() const { return groups_; }
  std::size_t k() const { return channels_ * taps_; }  // of one group

 private:
  friend class Unfolded;
  static constexpr std::size_t kMaxDimensions = 3;

  std::size_t groups_ = 1, channels_ = 1, taps_ = 1;               // channels of one group
  std::vector<std::int64_t> kernel_, strides_, dilations_, pads_;  // empty for a matrix
};

// The rows of an input. Does not own the values and the unfolding.
class Unfolded {
 public:
  // Throws Error{kBadInput} if the values do not match the shape or the unfolding.
  Unfolded(const Unfolding& unfolding, std::span<const float> values, std::span<const std::int64_t> shape);

  std::uint64_t rows() const { return rows_; }
  // Writes the row of group g to out + g * stride.
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
  std::vector<std::int64_t> taps_;            // offset of each tap in a plane; negative in the padding
};

class Gram {
 public:
  static constexpr std::size_t kLargestK = 4608;  // 512 channels of 3 × 3
  static constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

  // Bytes for the sums of such a layer; more than kMostMemory if k > kLargestK.
  static std::uint64_t bytes(const Unfolding& unfolding);
  static bool is_too_large(const Unfolding& unfolding) { return bytes(unfolding) > kMostMemory; }

  // Uses at most `rows_per_sample` (at least 1) rows of each sample, spread over the sample. Throws
  // Error{kUnsupported} if the matrix is too large.
  Gram(Unfolding unfolding, std::size_t rows_per_sample);

  // Adds a batch. If its samples differ in their number of rows, it counts as one sample. Ignores rows with
  // values that are not finite or too large to be squared.
  void add(std::span<const float> values, std::span<const std::int64_t> shape, std::size_t samples,
           const ForEach& for_each);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t left_out() const { return left_out_; }
  std::size_t k() const { return unfolding_.k(); }

  // Returns H / number of rows, k × k, for each group; zeros if there are no rows.
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
  std::size_t block_;            // rows that are accumulated together
  std::vector<Tile> tiles_;      // the upper triangle of one group's H
  std::size_t tile_values_ = 0;  // of one group
  std::vector<double> sums_;     // tile by tile, group by group
  std::vector<float> pending_;   // block_ rows of each group
  std::size_t pending_rows_ = 0;
  std::vector<float> candidate_;  // a row of each group
  std::uint64_t rows_ = 0, left_out_ = 0, samples_ = 0;
};

}  // namespace ounce::calibration
