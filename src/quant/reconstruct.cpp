#include "quant/reconstruct.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "quant/matrix.h"

namespace ounce::quant {
namespace {

// Limits that real layers do not reach; they bound the time.
constexpr int kSinglePasses = 50, kPairPasses = 20;
// So few inputs (the taps of a depthwise kernel, say) have so few choices that all can be tried.
constexpr std::size_t kFewInputs = 10;
// Improvements below this, in steps² of an average input, are rounding errors of the search itself.
constexpr float kWorthwhile = 1e-5F;
// What binary32 needs to factorize H without full rank.
constexpr float kLeastFactorDamping = 1e-3F;
// Steps by which a weight can be out of its codes' range; none is, unless its scale is nonsense.
constexpr double kFarthest = 0x1p+20;
// Found on held-out rows, from an eighth of k rows to twenty times k, for k of 64 and 1152: the best damping
// is close to this share of k / rows, and too much of it costs less than too little.
constexpr double kDampingByRows = 0.3, kLeastDamping = 0.01, kMostDamping = 1;

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
  std::size_t inputs() const { return k_; }
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

  // Places are decided from the last to the first, and later decisions compensate for earlier ones: so inputs
  // of much energy come last.
  void sort_inputs() {
    order_.resize(k_);
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return diagonal(a) < diagonal(b); });
  }

  void factorize_sorted(float damping, const ForEach& for_each) {
    const float missing = std::max(kLeastFactorDamping - damping, 0.0F);
    factor_.assign(stride_ * stride_, 0.0F);
    for (std::size_t i = 0; i < k_; ++i) {
      for (std::size_t j = i; j < k_; ++j) factor_[i * stride_ + j] = row(order_[i])[order_[j]];
      factor_[i * stride_ + i] += missing;
    }
    for (std::size_t i = k_; i < stride_; ++i) factor_[i * stride_ + i] = 1;
    factorize(factor_.data(), stride_, (damping + missing) / 2, for_each);
  }

  std::size_t k_, stride_;
  std::vector<float> h_, factor_, reach_;
  std::vector<std::uint32_t> order_;
};

// The errors of one channel's weights, in its largest step, and by how much the other code would change each:
// 0 where there is none. Padded with zeros.
struct Errors {
  std::vector<float> now, change;

  void take_other(std::size_t i) {
    now[i] += change[i];
    change[i] = -change[i];
  }
};

// Codes chosen one after another. Row by row ‖U e‖² is a square of which all but one error is decided: the
// code is taken that leaves the square smaller.
Errors round_in_sequence(const Objective& objective, Errors errors) {
  std::vector<float> decided(objective.stride(), 0.0F);  // errors by place
  for (std::size_t place = objective.inputs(); place-- > 0;) {
    const float* const row = objective.factor_row(place);
    const std::size_t i = objective.input_at(place), from = place / kLanes * kLanes;
    const float wanted = -dot(row + from, decided.data() + from, objective.stride() - from) / row[place];
    const float now = errors.now[i], other = now + errors.change[i];
    if (std::abs(other - wanted) < std::abs(now - wanted)) errors.take_other(i);
    decided[place] = errors.now[i];
  }
  return errors;
}

// Makes eᵀ H e smaller by changing codes, with H e kept up to date.
class Descent {
 public:
  Descent(const Objective& objective, Errors start)
      : objective_(objective), errors_(std::move(start)), slope_(size(), 0.0F), cost_(size(), 0.0F) {
    for (std::size_t i = 0; i < objective.inputs(); ++i)
      slope_[i] = dot(objective.row(i), errors_.now.data(), size());
  }

  const Errors& errors() const { return errors_; }
  float value() const { return dot(errors_.now.data(), slope_.data(), size()); }

  void change_singles() {
    bool is_better = true;
    for (int pass = 0; pass < kSinglePasses && is_better; ++pass) {
      is_better = false;
      for (std::size_t i = 0; i < objective_.inputs(); ++i) {
        if (cost(i) >= -kWorthwhile) continue;
        change(i);
        is_better = true;
      }
    }
  }

  // Ends at the best of all choices. One follows another by a single change, in the order of the Gray code.
  void try_all() {
    const unsigned choices = 1U << objective_.inputs();
    float value = 0, least = -kWorthwhile;
    unsigned best = 0;
    for (unsigned number = 1; number < choices; ++number) {
      const auto i = static_cast<std::size_t>(std::countr_zero(number));
      value += cost(i);
      change(i);
      if (value >= least) continue;
      least = value;
      best = number;
    }
    const auto gray = [](unsigned number) { return number ^ number >> 1U; };
    unsigned differing = gray(choices - 1) ^ gray(best);
    for (; differing != 0; differing &= differing - 1)
      change(static_cast<std::size_t>(std::countr_zero(differing)));
  }

  void change_pairs() {
    for (int pass = 0; pass < kPairPasses && pass_over_pairs(); ++pass) change_singles();
  }

 private:
  std::size_t size() const { return objective_.stride(); }

  // By how much the objective grows when code i changes.
  float cost(std::size_t i) const {
    const float step = errors_.change[i];
    return step * (2 * slope_[i] + step * objective_.diagonal(i));
  }

  void change(std::size_t i) {
    add_scaled(slope_.data(), objective_.row(i), errors_.change[i], size());
    errors_.take_other(i);
  }

  void find_costs() {
    for (std::size_t i = 0; i < objective_.inputs(); ++i) cost_[i] = cost(i);
  }

  // No single change helps, so of a pair that does the cheaper half costs less than what the two errors can
  // cancel; steps are at most 1. Few inputs pass, and only their rows are looked through.
  bool pass_over_pairs() {
    find_costs();
    bool is_better = false;
    for (std::size_t i = 0; i < objective_.inputs(); ++i) {
      const float step = std::abs(errors_.change[i]);
      if (step == 0 || cost_[i] >= step * objective_.reach(i)) continue;
      const std::size_t j = partner_of(i);
      if (j == size()) continue;
      change(i);
      change(j);
      find_costs();
      is_better = true;
    }
    return is_better;
  }

  // The best one to change together with i; size() if that does not help.
  std::size_t partner_of(std::size_t i) const {
    const float* const row = objective_.row(i);
    const float factor = 2 * errors_.change[i];
    const auto cost_with = [&](std::size_t j) { return cost_[j] + factor * errors_.change[j] * row[j]; };
    std::array<float, kLanes> least{};
    for (std::size_t at = 0; at < size(); at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float cost = cost_with(at + lane);
        least[lane] = cost < least[lane] ? cost : least[lane];
      }
    }
    const float wanted = *std::min_element(least.begin(), least.end());
    if (cost_[i] + wanted >= -kWorthwhile) return size();
    std::size_t j = 0;
    while (j < size() && (j == i || cost_with(j) != wanted)) ++j;
    return j;
  }

  const Objective& objective_;
  Errors errors_;
  std::vector<float> slope_;  // H e
  std::vector<float> cost_;
};

Errors find_best(const Objective& objective, const Errors& nearest) {
  Descent best(objective, nearest);
  if (objective.inputs() <= kFewInputs) {
    best.try_all();
    return best.errors();
  }
  Descent other(objective, round_in_sequence(objective, nearest));
  best.change_singles();
  other.change_singles();
  Descent& better = other.value() < best.value() ? other : best;
  better.change_pairs();
  return better.errors();
}

// One channel: its weights, its nearest codes and what can be done about them.
class Channel {
 public:
  Channel(const LayerToRound& layer, std::size_t channel)
      : layer_(layer),
        block_(layer.block == 0 ? layer.k : layer.block),
        weights_(layer.weights.data() + channel * layer.k),
        affine_(layer.affine.data() + channel * ((layer.k + block_ - 1) / block_)) {}

  void encode_nearest(std::uint8_t* codes) const {
    for (std::size_t first = 0; first < layer_.k; first += block_) {
      kernels::quantize_run(reinterpret_cast<const std::byte*>(weights_ + first),
                            std::min(block_, layer_.k - first), affine_[first / block_], layer_.codes,
                            codes + first);
    }
  }

  // False if there is nothing to choose from.
  bool find_errors(const std::uint8_t* codes, Errors& errors) const {
    const double unit = largest_step();
    if (!(unit > 0)) return false;
    errors.now.assign(padded(layer_.k), 0.0F);
    errors.change.assign(padded(layer_.k), 0.0F);
    for (std::size_t i = 0; i < layer_.k; ++i) {
      const int code = number(codes[i]), other = other_code(i, code);
      const double now = error(i, code);
      errors.now[i] = static_cast<float>(std::clamp(now / unit, -kFarthest, kFarthest));
      errors.change[i] = static_cast<float>((error(i, other) - now) / unit);
    }
    return true;
  }

  // `codes` are the nearest ones; those whose errors differ change.
  void encode(const Errors& nearest, const Errors& chosen, std::uint8_t* codes) const {
    for (std::size_t i = 0; i < layer_.k; ++i) {
      if (chosen.change[i] == nearest.change[i]) continue;
      codes[i] = static_cast<std::uint8_t>(other_code(i, number(codes[i])));
    }
  }

  std::vector<double> errors_of(const std::uint8_t* codes) const {
    std::vector<double> errors(layer_.k);
    for (std::size_t i = 0; i < layer_.k; ++i) errors[i] = error(i, number(codes[i]));
    return errors;
  }

 private:
  int number(std::uint8_t code) const {
    return layer_.codes.lo < 0 ? static_cast<int>(static_cast<std::int8_t>(code)) : static_cast<int>(code);
  }

  // As a runtime dequantizes. A weight that is not finite has no error to compensate for.
  double error(std::size_t i, int code) const {
    const kernels::Affine& affine = affine_[i / block_];
    const float value = (static_cast<float>(code) - affine.zero) * affine.scale;
    const double error = static_cast<double>(weights_[i]) - static_cast<double>(value);
    return std::isfinite(error) ? error : 0.0;
  }

  // The code on the weight's other side, or `code` itself where there is none.
  int other_code(std::size_t i, int code) const {
    const double now = error(i, code);
    const int up = affine_[i / block_].scale < 0 ? -1 : 1;
    const int other = now > 0 ? code + up : code - up;
    const bool exists = now != 0 && other >= layer_.codes.lo && other <= layer_.codes.hi;
    return exists ? other : code;
  }

  double largest_step() const {
    double largest = 0;
    for (std::size_t block = 0; block * block_ < layer_.k; ++block)
      largest = std::max(largest, std::abs(static_cast<double>(affine_[block].scale)));
    return largest;
  }

  const LayerToRound& layer_;
  std::size_t block_;
  const float* weights_;
  const kernels::Affine* affine_;
};

// eᵀ H e for two e at once, as H may be large; in double, by the lower triangle. Rounding errors of H's own
// entries must not make it negative.
std::array<double, 2> output_errors(const std::vector<float>& gram, std::size_t k,
                                    const std::vector<double>& a, const std::vector<double>& b) {
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < k; ++i) {
    const float* const row = gram.data() + i * k;
    constexpr std::size_t kParts = 4;
    std::array<double, kParts> part_a{}, part_b{};
    std::size_t j = 0;
    for (; j + kParts <= i; j += kParts) {
      for (std::size_t part = 0; part < kParts; ++part) {
        const auto entry = static_cast<double>(row[j + part]);
        part_a[part] += entry * a[j + part];
        part_b[part] += entry * b[j + part];
      }
    }
    for (; j < i; ++j) {
      part_a[0] += static_cast<double>(row[j]) * a[j];
      part_b[0] += static_cast<double>(row[j]) * b[j];
    }
    const auto diagonal = static_cast<double>(row[i]);
    const auto total = [](const auto& parts) { return (parts[0] + parts[1]) + (parts[2] + parts[3]); };
    sums[0] += a[i] * (2 * total(part_a) + diagonal * a[i]);
    sums[1] += b[i] * (2 * total(part_b) + diagonal * b[i]);
  }
  return {std::max(sums[0], 0.0), std::max(sums[1], 0.0)};
}

OutputError round_channel(const LayerToRound& layer, const std::vector<float>& gram,
                          const Objective& objective, std::size_t number, std::uint8_t* codes) {
  const Channel channel(layer, number);
  channel.encode_nearest(codes);
  if (!objective.is_known()) return {};
  Errors nearest;
  std::vector<std::uint8_t> chosen(codes, codes + layer.k);
  if (channel.find_errors(codes, nearest))
    channel.encode(nearest, find_best(objective, nearest), chosen.data());
  const auto errors =
      output_errors(gram, layer.k, channel.errors_of(codes), channel.errors_of(chosen.data()));
  if (!(errors[1] < errors[0])) return {errors[0], errors[0]};
  std::copy(chosen.begin(), chosen.end(), codes);
  return {errors[0], errors[1]};
}

void check_sizes(const LayerToRound& layer) {
  const std::size_t k = layer.k, channels = layer.channels(), groups = layer.gram.size();
  const std::size_t block = layer.block == 0 ? k : layer.block;
  const bool fits = k != 0 && groups != 0 && layer.weights.size() % k == 0 && channels % groups == 0 &&
                    layer.affine.size() == channels * ((k + block - 1) / block) &&
                    std::all_of(layer.gram.begin(), layer.gram.end(),
                                [&](const std::vector<float>& gram) { return gram.size() == k * k; });
  if (!fits) throw Error(ErrorCode::kInternal, "weights, scales and inputs do not fit together");
}

}  // namespace

float damping_for(std::size_t k, std::uint64_t rows) {
  const double per_row = static_cast<double>(k) / static_cast<double>(std::max<std::uint64_t>(1, rows));
  return static_cast<float>(std::clamp(kDampingByRows * per_row, kLeastDamping, kMostDamping));
}

OutputError round_for_output(const LayerToRound& layer, const ForEach& for_each, std::uint8_t* codes) {
  check_sizes(layer);
  const std::size_t groups = layer.gram.size(), channels = layer.channels(), per_group = channels / groups;
  std::vector<OutputError> errors(channels);
  const auto round_group = [&](std::size_t group, const ForEach& for_each_channel) {
    const std::vector<float>& gram = layer.gram[group];
    const Objective objective(gram, layer.k, layer.damping, for_each_channel);
    for_each_channel(per_group, [&](std::size_t i) {
      const std::size_t channel = group * per_group + i;
      errors[channel] = round_channel(layer, gram, objective, channel, codes + channel * layer.k);
    });
  };
  if (groups == 1) {
    round_group(0, for_each);
  } else {
    for_each(groups, [&](std::size_t group) { round_group(group, run_serially); });
  }
  OutputError sum;
  for (const OutputError& error : errors) {
    sum.nearest += error.nearest;
    sum.achieved += error.achieved;
  }
  return sum;
}

}  // namespace ounce::quant
