#include "quant/balance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/rounding_residual.h"

namespace ounce::quant {
namespace {

class Balancer {
 public:
  Balancer(std::size_t n, kernels::CodeRange range) : range_(range), missing_(n), candidates_(n) {}

  void run(const std::byte* x, std::size_t n, std::size_t kernel, const kernels::Affine& affine,
           std::uint8_t* codes) {
    codes_ = codes;
    const auto sign = range_.lo < 0 ? kernels::CodeSign::kSigned : kernels::CodeSign::kUnsigned;
    double residual = kernels::rounding_residuals(x, n, affine, sign, codes, missing_.data());
    if (kernel > 1 && kernel < n && n % kernel == 0) {
      sums_.resize(n / kernel);
      kernels::sums_of_groups(missing_.data(), sums_.size(), kernel, sums_.data());
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        if (std::abs(sums_[k]) > 0.5F) residual -= balance(k * kernel, kernel, static_cast<double>(sums_[k]));
      }
    }
    balance(0, n, residual);
  }

 private:
  int code(std::size_t i) const {
    return range_.lo < 0 ? static_cast<int>(static_cast<std::int8_t>(codes_[i]))
                         : static_cast<int>(codes_[i]);
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

  // Returns by how much the codes have grown together.
  double balance(std::size_t first, std::size_t n, double residual) {
    const int step = residual > 0 ? 1 : -1;
    const auto moves =
        static_cast<std::size_t>(std::min(std::nearbyint(std::abs(residual)), static_cast<double>(n)));
    if (moves == 0) return 0;
    const std::size_t moved =
        moves == 1 && n <= kFew ? move_strongest(first, n, step) : move_several(first, n, step, moves);
    return static_cast<double>(step) * static_cast<double>(moved);
  }

  std::size_t move_strongest(std::size_t first, std::size_t n, int step) {
    std::size_t best = first;
    float strongest = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      if (missing_[i] * static_cast<float>(step) > strongest && urge(i, step) > strongest) {
        strongest = urge(i, step);
        best = i;
      }
    }
    if (strongest <= 0) return 0;
    move(best, step);
    return 1;
  }

  // Codes residual anything between -1/2 and 1/2 with about the same probability, so the `moves` strongest
  // urges lie above a bound that is known beforehand; only what passes it has to be sorted.
  std::size_t move_several(std::size_t first, std::size_t n, int step, std::size_t moves) {
    const float share = static_cast<float>(moves) / static_cast<float>(n);
    std::size_t found = 0;
    for (float bound = 0.5F - 2 * share;; bound = 0) {
      const float least = std::max(bound, 0.0F);
      found = kernels::find_beyond(missing_.data() + first, n, static_cast<float>(step), least,
                                   candidates_.data());
      if (found >= moves || least == 0) break;
    }
    const auto stronger = [&](std::uint32_t a, std::uint32_t b) {
      const float urge_a = urge(first + a, step), urge_b = urge(first + b, step);
      return urge_a != urge_b ? urge_a > urge_b : a < b;
    };
    const auto begin = candidates_.begin(), end = begin + static_cast<std::ptrdiff_t>(found);
    const std::size_t count = std::min(moves, found);
    std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(count), end, stronger);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (urge(first + candidates_[i], step) <= 0) continue;
      move(first + candidates_[i], step);
      ++moved;
    }
    return moved;
  }

  static constexpr std::size_t kFew = 64;

  kernels::CodeRange range_;
  std::vector<float> missing_, sums_;
  std::vector<std::uint32_t> candidates_;
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
