#include "quant/reconstruct.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "quant/cholesky.h"
#include "quant/lanes.h"

namespace ounce::quant {
namespace {

// Limits that real layers do not reach; they bound the time.
constexpr int kSinglePasses = 50, kPairPasses = 20;
// Improvements below this, in steps² of an average input, are rounding errors of the search itself.
constexpr float kWorthwhile = 1e-5F;

const ForEach kSerial = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = 0; i < steps; ++i) run(i);
};

// What is minimised: H with a mean diagonal of 1 and damped, and its Cholesky factor.
class Objective {
 public:
  Objective(const std::vector<float>& gram, std::size_t k, float damping, const ForEach& for_each)
      : k_(k), stride_(padded(k)) {
    const double scale = 1 / mean_diagonal(gram);
    if (!std::isfinite(scale)) return;
    h_.assign(stride_ * stride_, 0.0F);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j)
        h_[i * stride_ + j] = static_cast<float>(static_cast<double>(gram[i * k + j]) * scale);
      h_[i * stride_ + i] += damping;
    }
    find_reach();
    if (!is_known()) return;
    sort_inputs();
    factorize_sorted(damping, for_each);
  }

  // Otherwise nothing can be said about any error.
  bool is_known() const { return !reach_.empty(); }
  std::size_t stride() const { return stride_; }
  const float* row(std::size_t i) const { return h_.data() + i * stride_; }
  float diagonal(std::size_t i) const { return h_[i * stride_ + i]; }
  // The largest entry beside the diagonal: how much two errors can cancel.
  float reach(std::size_t i) const { return reach_[i]; }

  // Row `place` of the factor, and which input that place stands for.
  const float* factor_row(std::size_t place) const { return factor_.data() + place * stride_; }
  std::size_t input_at(std::size_t place) const { return order_[place]; }

 private:
  double mean_diagonal(const std::vector<float>& gram) const {
    double sum = 0;
    for (std::size_t i = 0; i < k_; ++i) sum += static_cast<double>(gram[i * k_ + i]);
    return sum / static_cast<double>(k_);
  }

  void find_reach() {
    std::vector<float> reach(k_, 0.0F);
    for (std::size_t i = 0; i < k_; ++i) {
      if (!(diagonal(i) <= std::numeric_limits<float>::max())) return;
      for (std::size_t j = 0; j < k_; ++j) {
        const float size = std::abs(row(i)[j]);
        if (!(size <= std::numeric_limits<float>::max())) return;
        if (j != i) reach[i] = std::max(reach[i], size);
      }
    }
    reach_ = std::move(reach);
  }

  // Places are decided from the last to the first, and the early ones are made up for by the rest: so those
  // of much energy come last.
  void sort_inputs() {
    order_.resize(k_);
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return diagonal(a) < diagonal(b); });
  }

  void factorize_sorted(float damping, const ForEach& for_each) {
    factor_.assign(stride_ * stride_, 0.0F);
    for (std::size_t i = 0; i < k_; ++i) {
      for (std::size_t j = i; j < k_; ++j) factor_[i * stride_ + j] = row(order_[i])[order_[j]];
    }
    for (std::size_t i = k_; i < stride_; ++i) factor_[i * stride_ + i] = 1;
    factorize(factor_.data(), stride_, std::max(damping / 2, std::numeric_limits<float>::epsilon()),
              for_each);
  }

  std::size_t k_, stride_;
  std::vector<float> h_, factor_, reach_;
  std::vector<std::uint32_t> order_;
};

// The errors of one channel's weights, in its largest step, and what each would become by the other code.
struct Errors {
  std::vector<float> now;     // e
  std::vector<float> change;  // to the other code; 0 where there is none
};

// Makes eᵀ H e smaller by changing codes, keeping H e up to date.
class Descent {
 public:
  Descent(const Objective& objective, Errors start) : objective_(objective), errors_(std::move(start)) {
    slope_.assign(objective.stride(), 0.0F);
    cost_.assign(objective.stride(), 0.0F);
    for (std::size_t i = 0; i < size(); ++i) {
      if (errors_.now[i] != 0) add_scaled(slope_.data(), objective.row(i), errors_.now[i], size());
    }
  }

  const Errors& errors() const { return errors_; }
  float value() const { return dot(errors_.now.data(), slope_.data(), size()); }

  void change_singles() {
    for (int pass = 0; pass < kSinglePasses; ++pass) {
      bool is_better = false;
      for (std::size_t i = 0; i < objective_inputs(); ++i) {
        if (cost(i) >= -kWorthwhile) continue;
        change(i);
        is_better = true;
      }
      if (!is_better) return;
    }
  }

  void change_pairs() {
    for (int pass = 0; pass < kPairPasses; ++pass) {
      if (!pass_over_pairs()) return;
      change_singles();
    }
  }

 private:
  std::size_t size() const { return slope_.size(); }
  std::size_t objective_inputs() const { return inputs_; }

  // By how much the objective grows when code i changes.
  float cost(std::size_t i) const {
    const float step = errors_.change[i];
    return step * (2 * slope_[i] + step * objective_.diagonal(i));
  }

  void change(std::size_t i) {
    const float step = errors_.change[i];
    add_scaled(slope_.data(), objective_.row(i), step, size());
    errors_.now[i] += step;
    errors_.change[i] = -step;
  }

  bool pass_over_pairs();
  std::size_t best_partner(std::size_t i) const;

  const Objective& objective_;
  Errors errors_;
  std::vector<float> slope_;  // H e
  std::vector<float> cost_;
  std::size_t inputs_ = 0;
};

}  // namespace
}  // namespace ounce::quant
