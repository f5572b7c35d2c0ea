#include "observe/gram.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/checked.h"
#include "quant/lanes.h"
#include "quant/outer_products.h"

namespace ounce::observe {
namespace {

constexpr std::size_t kTile = 64;
// Products of a block are added in binary32, so a block is not long; and it need not be larger than a cache.
constexpr std::size_t kFewestRows = 32, kMostRows = 256, kBlockValues = std::size_t{1} << 18;
// The squares of 256 values like this still add up in binary32.
constexpr float kLargestValue = 0x1p+56F;

// Tiles on the diagonal are whole, so this is an upper bound of what is kept for one group.
std::uint64_t values_of_group(std::uint64_t stride) { return stride * (stride + kTile) / 2; }

bool can_be_squared(const std::vector<float>& values) {
  std::array<bool, quant::kLanes> is_strange{};
  for (std::size_t at = 0; at < values.size(); at += quant::kLanes) {
    for (std::size_t lane = 0; lane < quant::kLanes; ++lane)
      is_strange[lane] |= !(std::abs(values[at + lane]) <= kLargestValue);
  }
  return std::none_of(is_strange.begin(), is_strange.end(), [](bool strange) { return strange; });
}

// Steps of about the golden section of n visit its positions spread out, whatever shape lies behind them (a
// step that divides the width of an image would visit few of its columns), and all of them before one twice.
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
                "a layer has too many inputs for its rounding to be adapted to them: leave it to nearest");
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
  // Samples begin at different places: the same one of every image would say too little about the others.
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

// A tile is one step's own, and its sums are added block after block: threads change nothing.
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

}  // namespace ounce::observe
