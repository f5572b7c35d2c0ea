#include "quant/balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace ounce::quant {
namespace {

constexpr std::size_t kLanes = 8;  // independent sums, so that additions overlap; a fixed order for every CPU

double sum(const float* values, std::size_t n) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(values[i + lane]);
  }
  for (; i < n; ++i) lanes[i % kLanes] += static_cast<double>(values[i]);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

class Balancer {
 public:
  Balancer(std::size_t n, kernels::CodeRange range) : range_(range), missing_(n) {}

  void run(const std::byte* x, std::size_t n, std::size_t kernel, const kernels::Affine& affine,
           std::uint8_t* codes) {
    codes_ = codes;
    measure(x, n, affine);
    if (kernel > 1 && n % kernel == 0) {
      for (std::size_t first = 0; first < n; first += kernel) balance(first, kernel);
      if (kernel == n) return;
    }
    balance(0, n);
  }

 private:
  int code(std::size_t i) const {
    return range_.lo < 0 ? static_cast<int>(static_cast<std::int8_t>(codes_[i]))
                         : static_cast<int>(codes_[i]);
  }

  // What each code lacks of its value, in steps.
  void measure(const std::byte* x, std::size_t n, const kernels::Affine& affine) {
    const bool is_signed = range_.lo < 0;
    for (std::size_t i = 0; i < n; ++i) {
      float value = 0;
      std::memcpy(&value, x + i * sizeof value, sizeof value);
      const float at =
          is_signed ? static_cast<float>(static_cast<std::int8_t>(codes_[i])) : static_cast<float>(codes_[i]);
      missing_[i] = value * affine.inverse - (at - affine.zero);
    }
  }

  void move(std::size_t i, int step) {
    codes_[i] = static_cast<std::uint8_t>(code(i) + step);
    missing_[i] -= static_cast<float>(step);
  }

  // How much moving code i by `step` suggests itself: what it lacks in that direction, nothing at the ends.
  float urge(std::size_t i, int step) const {
    const bool at_end = step > 0 ? code(i) >= range_.hi : code(i) <= range_.lo;
    return at_end ? 0 : missing_[i] * static_cast<float>(step);
  }

  void balance(std::size_t first, std::size_t n) {
    const double lack = sum(missing_.data() + first, n);
    const int step = lack > 0 ? 1 : -1;
    const auto moves =
        static_cast<std::size_t>(std::min(std::nearbyint(std::abs(lack)), static_cast<double>(n)));
    if (moves == 0) return;
    if (moves == 1) return move_strongest(first, n, step);
    move_several(first, n, step, moves);
  }

  void move_strongest(std::size_t first, std::size_t n, int step) {
    std::size_t best = first;
    float strongest = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      if (missing_[i] * static_cast<float>(step) > strongest && urge(i, step) > strongest) {
        strongest = urge(i, step);
        best = i;
      }
    }
    if (strongest > 0) move(best, step);
  }

  // Codes lack anything between -1/2 and 1/2 with about the same probability, so the `moves` strongest urges
  // lie above a bound that is known beforehand; only what passes it has to be sorted.
  void move_several(std::size_t first, std::size_t n, int step, std::size_t moves) {
    const float share = static_cast<float>(moves) / static_cast<float>(n);
    for (float bound = 0.5F - 2 * share;; bound = 0) {
      candidates_.clear();
      const float least = std::max(bound, 0.0F);
      for (std::size_t i = first; i < first + n; ++i) {
        if (missing_[i] * static_cast<float>(step) > least) candidates_.push_back(i);
      }
      if (candidates_.size() >= moves || least == 0) break;
    }
    const auto stronger = [&](std::size_t a, std::size_t b) {
      const float urge_a = urge(a, step), urge_b = urge(b, step);
      return urge_a != urge_b ? urge_a > urge_b : a < b;
    };
    const std::size_t count = std::min(moves, candidates_.size());
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count),
                      candidates_.end(), stronger);
    for (std::size_t i = 0; i < count && urge(candidates_[i], step) > 0; ++i) move(candidates_[i], step);
  }

  kernels::CodeRange range_;
  std::vector<float> missing_;
  std::vector<std::size_t> candidates_;
  std::uint8_t* codes_ = nullptr;
};

}  // namespace

void balance_runs(const std::byte* x, std::size_t runs, std::size_t n, std::size_t kernel,
                  const kernels::Affine* affine, kernels::CodeRange range, std::uint8_t* codes) {
  Balancer balancer(n, range);
  for (std::size_t run = 0; run < runs; ++run) {
    balancer.run(x + run * n * sizeof(float), n, kernel, affine[run], codes + run * n);
  }
}

}  // namespace ounce::quant
