// A layer's input as the rows that its weights are multiplied with: k numbers for every output position, in
// the order of a channel's weights.
//
//   MatMul, Gemm:  input [..., k]             a row is a row
//   Conv:          input [N, C, spatial ...]  a row is what lies under the kernel, zeros in the padding: for
//                                             each channel of the group its taps; each group has its own
//
//   Unfolded input(Unfolding::of_convolution({.channels = 64, .kernel = {3, 3}, ...}), values, shape);
//   for (std::uint64_t row = 0; row < input.rows(); ++row) input.copy_row(row, out, stride);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ounce::observe {

// As the attributes of ONNX's Conv say it. What is empty is all ones, or all zeros for pads. The kernel's
// shape decides whether it has 1, 2 or 3 dimensions.
struct Convolution {
  std::int64_t channels = 0;
  std::int64_t groups = 1;
  std::vector<std::int64_t> kernel{}, strides{}, dilations{};
  std::vector<std::int64_t> pads{};  // those at the beginning of each dimension, then those at the end
};

class Unfolding {
 public:
  static Unfolding of_matrix(std::int64_t k);
  // Throws Error{kBadInput} for what no convolution can be, Error{kUnsupported} for other dimensions.
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

}  // namespace ounce::observe
