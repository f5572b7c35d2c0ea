#include "calibration/gram.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/numbers.h"
#include "quant/matrix.h"

namespace ounce::calibration {
namespace {

constexpr std::size_t kTile = 64;
// A block is summed in FP32, so it must be short. It should also fit into a cache.
constexpr std::size_t kFewestRows = 32, kMostRows = 256, kBlockValues = std::size_t{1} << 18;
// The sum of 256 squares of this value does not overflow FP32.
constexpr float kLargestValue = 0x1p+56F;

// Upper bound of the values of one group; tiles on the diagonal are stored completely.
std::uint64_t values_of_group(std::uint64_t stride) { return stride * (stride + kTile) / 2; }

bool can_be_squared(const std::vector<float>& values) {
  std::array<bool, quant::kLanes> is_strange{};
  for (std::size_t at = 0; at < values.size(); at += quant::kLanes) {
    for (std::size_t lane = 0; lane < quant::kLanes; ++lane)
      is_strange[lane] |= !(std::abs(values[at + lane]) <= kLargestValue);
  }
  return std::none_of(is_strange.begin(), is_strange.end(), [](bool strange) { return strange; });
}

// A step of about the golden section of n, coprime to n: visits spread-out positions, each once before any is
// repeated. A step that divides the width of an image would visit only a few columns.
std::uint64_t step_through(std::uint64_t n) {
  auto step = static_cast<std::uint64_t>(static_cast<double>(n) * 0.6180339887498949);
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

}  // namespace

std::uint64_t Gram::bytes(const Unfolding& unfolding) {
  if (unfolding.k() > kLargestK) return kMostMemory + 1;
  const auto values = checked_multiply(values_of_group(quant::padded(unfolding.k())), unfolding.groups());
  const auto size = values ? checked_multiply(*values, sizeof(double)) : std::nullopt;
  return size.value_or(kMostMemory + 1);
}

Gram::Gram(Unfolding unfolding, std::size_t rows_per_sample)
    : unfolding_(std::move(unfolding)),
      rows_per_sample_(std::max<std::size_t>(1, rows_per_sample)),
      stride_(quant::padded(unfolding_.k())) {
  if (is_too_large(unfolding_)) {
    throw Error(ErrorCode::kUnsupported,
                "a layer has too many inputs for adaptive rounding: round it to nearest");
  }
  for (std::size_t top = 0; top < stride_; top += kTile) {
    for (std::size_t left = top; left < stride_; left += kTile) {
      const std::size_t height = std::min(kTile, stride_ - top), width = std::min(kTile, stride_ - left);
      tiles_.push_back({top, left, height, width, tile_values_});
      tile_values_ += height * width;
    }
  }
  const std::size_t groups = unfolding_.groups();
  block_ = std::clamp(kBlockValues / (groups * stride_), kFewestRows, kMostRows);
  sums_.assign(groups * tile_values_, 0.0);
  pending_.assign(groups * block_ * stride_, 0.0F);
  candidate_.assign(groups * stride_, 0.0F);
}

void Gram::add(std::span<const float> values, std::span<const std::int64_t> shape, std::size_t samples,
               const ForEach& for_each) {
  Unfolded input(unfolding_, values, shape);
  const bool is_even = samples != 0 && input.rows() % samples == 0;
  const std::uint64_t parts = is_even ? samples : 1, rows = input.rows() / parts;
  if (rows == 0) return;
  for (std::uint64_t part = 0; part < parts; ++part) add_sample(input, part * rows, rows, for_each);
}

void Gram::add_sample(Unfolded& input, std::uint64_t first, std::uint64_t rows, const ForEach& for_each) {
  const std::uint64_t sample = samples_++;
  if (rows <= rows_per_sample_) {
    for (std::uint64_t row = first; row < first + rows; ++row) add_row(input, row, for_each);
    return;
  }
  // Begin at a different position in each sample, so that all positions are covered.
  const std::uint64_t step = step_through(rows);
  std::uint64_t at = sample % rows;
  for (std::size_t i = 0; i < rows_per_sample_; ++i) {
    add_row(input, first + at, for_each);
    at = at < rows - step ? at + step : at - (rows - step);
  }
}

float* Gram::pending_row(std::size_t group, std::size_t row) {
  return pending_.data() + (group * block_ + row) * stride_;
}

void Gram::add_row(Unfolded& input, std::uint64_t row, const ForEach& for_each) {
  input.copy_row(row, candidate_.data(), stride_);
  if (!can_be_squared(candidate_)) {
    ++left_out_;
    return;
  }
  for (std::size_t group = 0; group < unfolding_.groups(); ++group)
    std::copy_n(candidate_.data() + group * stride_, stride_, pending_row(group, pending_rows_));
  ++rows_;
  if (++pending_rows_ == block_) add_pending(for_each);
}

// Each tile is processed by one thread, in the order of blocks, so that the result does not depend on the
// number of threads.
void Gram::add_pending(const ForEach& for_each) {
  for_each(unfolding_.groups() * tiles_.size(), [&](std::size_t number) {
    const std::size_t group = number / tiles_.size();
    const Tile& tile = tiles_[number % tiles_.size()];
    const float* const rows = pending_row(group, 0);
    std::array<float, kTile * kTile> products;
    quant::outer_products(rows + tile.top, rows + tile.left, pending_rows_, stride_, tile.height, tile.width,
                          products.data());
    double* const sums = sums_.data() + group * tile_values_ + tile.offset;
    for (std::size_t i = 0; i < tile.height * tile.width; ++i) sums[i] += static_cast<double>(products[i]);
  });
  pending_rows_ = 0;
}

std::vector<std::vector<float>> Gram::matrices(const ForEach& for_each) {
  add_pending(for_each);
  const std::size_t size = k();
  const double share = rows_ == 0 ? 0 : 1 / static_cast<double>(rows_);
  std::vector<std::vector<float>> all(unfolding_.groups());
  for_each(all.size(), [&](std::size_t group) {
    std::vector<float>& matrix = all[group];
    matrix.resize(size * size);
    for (const Tile& tile : tiles_) {
      const double* const sums = sums_.data() + group * tile_values_ + tile.offset;
      const std::size_t bottom = std::min(tile.top + tile.height, size);
      const std::size_t right = std::min(tile.left + tile.width, size);
      for (std::size_t i = tile.top; i < bottom; ++i) {
        for (std::size_t j = tile.left; j < right; ++j) {
          const double sum = sums[(i - tile.top) * tile.width + j - tile.left];
          matrix[i * size + j] = matrix[j * size + i] = static_cast<float>(sum * share);
        }
      }
    }
  });
  return all;
}

namespace {

// Larger attributes are invalid. With this limit, computations on attributes do not overflow.
constexpr std::int64_t kLargestAttribute = std::int64_t{1} << 30;

[[noreturn]] void refuse(const char* what) { throw Error(ErrorCode::kBadInput, what); }

std::vector<std::int64_t> checked_attribute(std::vector<std::int64_t> values, std::size_t count,
                                            std::int64_t least) {
  if (values.empty()) values.assign(count, least);
  const bool fits = values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t v) {
                      return v >= least && v <= kLargestAttribute;
                    });
  if (!fits) refuse("the attributes of a convolution contradict each other: check the model");
  return values;
}

std::uint64_t product(std::span<const std::int64_t> sizes) {
  std::uint64_t all = 1;
  for (const std::int64_t size : sizes) {
    const auto next = size < 0 ? std::nullopt : checked_multiply(all, static_cast<std::uint64_t>(size));
    if (!next) refuse("a shape is negative or too large: check the model");
    all = *next;
  }
  return all;
}

}  // namespace

Unfolding Unfolding::of_matrix(std::int64_t k) {
  Unfolding unfolding;
  unfolding.channels_ = static_cast<std::size_t>(checked_attribute({k}, 1, 1)[0]);
  return unfolding;
}

Unfolding Unfolding::of_convolution(const Convolution& convolution) {
  const std::size_t dimensions = convolution.kernel.size();
  if (dimensions == 0 || dimensions > kMaxDimensions)
    throw Error(ErrorCode::kUnsupported, "only convolutions of 1, 2 or 3 dimensions can be unfolded");
  const std::int64_t channels = convolution.channels, groups = convolution.groups;
  checked_attribute({channels, groups}, 2, 1);
  if (channels % groups != 0) refuse("a convolution's groups do not divide its channels: check the model");
  Unfolding unfolding;
  unfolding.groups_ = static_cast<std::size_t>(groups);
  unfolding.channels_ = static_cast<std::size_t>(channels / groups);
  unfolding.kernel_ = checked_attribute(convolution.kernel, dimensions, 1);
  unfolding.strides_ = checked_attribute(convolution.strides, dimensions, 1);
  unfolding.dilations_ = checked_attribute(convolution.dilations, dimensions, 1);
  unfolding.pads_ = checked_attribute(convolution.pads, 2 * dimensions, 0);
  unfolding.taps_ = product(unfolding.kernel_);
  if (!checked_multiply(unfolding.channels_, unfolding.taps_)) refuse("a convolution's kernel is too large");
  return unfolding;
}

Unfolded::Unfolded(const Unfolding& unfolding, std::span<const float> values,
                   std::span<const std::int64_t> shape)
    : unfolding_(unfolding), values_(values) {
  if (product(shape) != values.size()) refuse("the size of an activation does not match its shape");
  if (!unfolding.kernel_.empty()) {
    read_convolution(shape);
  } else {
    if (shape.empty() || static_cast<std::uint64_t>(shape.back()) != unfolding.k())
      refuse("the last dimension of an activation does not match the weights: check the model");
    rows_ = values.size() / unfolding.k();
  }
}

void Unfolded::read_convolution(std::span<const std::int64_t> shape) {
  const std::size_t dimensions = unfolding_.kernel_.size();
  const std::size_t channels = unfolding_.groups_ * unfolding_.channels_;
  if (shape.size() != dimensions + 2 || static_cast<std::uint64_t>(shape[1]) != channels)
    refuse("the shape of an activation does not match its convolution: check the model");
  input_.assign(shape.begin() + 2, shape.end());
  output_.resize(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t covered = unfolding_.dilations_[d] * (unfolding_.kernel_[d] - 1) + 1;
    const std::int64_t sides = unfolding_.pads_[d] + unfolding_.pads_[dimensions + d];
    const std::int64_t room = std::min(input_[d], kLargestAttribute) + sides - covered;
    output_[d] = values_.empty() || room < 0 ? 0 : room / unfolding_.strides_[d] + 1;
  }
  plane_ = product(input_);
  positions_ = product(output_);
  const auto rows = checked_multiply(static_cast<std::uint64_t>(shape[0]), positions_);
  if (!rows) refuse("a convolution's output is too large: check the model");
  rows_ = *rows;
  taps_.resize(unfolding_.taps_);
}

void Unfolded::find_taps(std::uint64_t position) {
  const std::size_t dimensions = unfolding_.kernel_.size();
  std::fill(taps_.begin(), taps_.end(), 0);
  std::int64_t inner_taps = 1, inner_values = 1;
  for (std::size_t d = dimensions; d-- > 0;) {
    const auto size = static_cast<std::uint64_t>(output_[d]);
    const std::int64_t start =
        static_cast<std::int64_t>(position % size) * unfolding_.strides_[d] - unfolding_.pads_[d];
    position /= size;
    for (std::size_t tap = 0; tap < taps_.size(); ++tap) {
      const std::int64_t step = static_cast<std::int64_t>(tap) / inner_taps % unfolding_.kernel_[d];
      const std::int64_t at = start + step * unfolding_.dilations_[d];
      const bool is_outside = taps_[tap] < 0 || at < 0 || at >= input_[d];
      taps_[tap] = is_outside ? -1 : taps_[tap] + at * inner_values;
    }
    inner_taps *= unfolding_.kernel_[d];
    inner_values *= input_[d];
  }
}

void Unfolded::copy_row(std::uint64_t row, float* out, std::size_t stride) {
  const std::size_t k = unfolding_.k();
  if (unfolding_.kernel_.empty()) {
    std::copy_n(values_.data() + row * k, k, out);
    return;
  }
  find_taps(row % positions_);
  const std::size_t channels = unfolding_.groups_ * unfolding_.channels_;
  const float* plane = values_.data() + row / positions_ * channels * plane_;
  for (std::size_t group = 0; group < unfolding_.groups_; ++group) {
    float* to = out + group * stride;
    for (std::size_t channel = 0; channel < unfolding_.channels_; ++channel, plane += plane_) {
      for (const std::int64_t tap : taps_) *to++ = tap < 0 ? 0 : plane[tap];
    }
  }
}

}  // namespace ounce::calibration
