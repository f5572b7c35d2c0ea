#include "quant/reconstruct.h"

#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/pack.h"
#include "quant/codebook.h"
#include "quant/matrix.h"

namespace ounce::quant {
namespace {

// Limits that bound the time; real layers do not reach them.
constexpr int kSinglePasses = 50, kPairPasses = 20;
// With this few inputs (such as the taps of a depthwise kernel), all choices can be tried.
constexpr std::size_t kFewInputs = 10;
// Smaller improvements, in steps² of an average input, are rounding errors of the search.
constexpr float kWorthwhile = 1e-5F;
// The damping that binary32 needs to factorize an H without full rank.
constexpr float kLeastFactorDamping = 1e-3F;
// Limit for how far a weight can be outside of the quantized range, in steps, unless its scale is invalid.
constexpr double kFarthest = 0x1p+20;
// Fitted on held-out rows, from an eighth of k rows to twenty times k, for k of 64 and 1152: the best damping
// is close to this share of k / rows, and too much costs less than too little.
constexpr double kDampingByRows = 0.3, kLeastDamping = 0.01, kMostDamping = 1;

// The objective: H, scaled to a mean diagonal of 1 and damped, and its Cholesky factor.
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

  // False if H gives no information about errors.
  bool is_known() const { return !reach_.empty(); }
  std::size_t inputs() const { return k_; }
  std::size_t stride() const { return stride_; }
  const float* row(std::size_t i) const { return h_.data() + i * stride_; }
  float diagonal(std::size_t i) const { return h_[i * stride_ + i]; }
  // The largest off-diagonal entry: how much two errors can cancel.
  float reach(std::size_t i) const { return reach_[i]; }

  // Row `place` of the factor, and the input at that position.
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

  // Positions are decided from the last to the first, and later decisions compensate for earlier ones, so
  // inputs with high energy come last.
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

// The errors of one channel's weights, in units of its largest step, and the change of each error by using
// the other quantized value; 0 if there is none. Padded with zeros.
struct Errors {
  std::vector<float> now, change;

  void take_other(std::size_t i) {
    now[i] += change[i];
    change[i] = -change[i];
  }
};

// Chooses values one after another. In row order, each square of ‖U e‖² has only one undecided error; the
// value that makes the square smaller is chosen.
Errors round_in_sequence(const Objective& objective, Errors errors) {
  std::vector<float> decided(objective.stride(), 0.0F);  // errors by position
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

// Minimizes eᵀ H e by changing quantized values, and keeps H e up to date.
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

  // Ends at the best of all choices, which are enumerated in Gray code order by single changes.
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

  // The increase of the objective if value i changes.
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

  // After no single change helps, a pair can help only if the cost of its cheaper half is less than the
  // possible cancellation of the two errors (steps are at most 1). Few inputs qualify, and only their rows
  // are searched.
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

  // The best value to change together with i; size() if no pair helps.
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

// One channel: its weights, its nearest quantized values, and the possible changes.
class Channel {
 public:
  Channel(const LayerToRound& layer, std::size_t channel)
      : layer_(layer),
        block_(layer.block == 0 ? layer.k : layer.block),
        weights_(layer.weights.data() + channel * layer.k),
        affine_(layer.affine.data() + channel * ((layer.k + block_ - 1) / block_)),
        table_(layer.tables.empty() ? nullptr
                                    : &layer.tables[channel / (layer.channels() / layer.tables.size())]) {}

  void encode_nearest(std::uint8_t* codes) const {
    if (table_ != nullptr) return look_up_nearest(codes);
    for (std::size_t first = 0; first < layer_.k; first += block_) {
      kernels::quantize_run(reinterpret_cast<const std::byte*>(weights_ + first),
                            std::min(block_, layer_.k - first), affine_[first / block_], layer_.codes,
                            codes + first);
    }
  }

  // Returns false if there are no choices.
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

  // `codes` are the nearest values on entry; those whose errors differ are changed.
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

  // The error as a runtime dequantizes. A weight that is not finite has no error to compensate.
  double error(std::size_t i, int code) const {
    const kernels::Affine& affine = affine_[i / block_];
    const float step = table_ == nullptr ? static_cast<float>(code) - affine.zero
                                         : (*table_)[static_cast<std::size_t>(code)];
    const float value = step * affine.scale;
    const double error = static_cast<double>(weights_[i]) - static_cast<double>(value);
    return std::isfinite(error) ? error : 0.0;
  }

  // The quantized value on the weight's other side, or `code` itself if there is none.
  int other_code(std::size_t i, int code) const {
    const double now = error(i, code);
    const int up = affine_[i / block_].scale < 0 ? -1 : 1;
    const int other = now > 0 ? code + up : code - up;
    const bool exists = now != 0 && other >= layer_.codes.lo && other <= layer_.codes.hi;
    return exists ? other : code;
  }

  void look_up_nearest(std::uint8_t* codes) const {
    std::vector<float> scaled(weights_, weights_ + layer_.k);
    const float inverse = affine_->scale == 0 ? 0 : 1 / affine_->scale;
    for (float& value : scaled) value *= inverse;
    const std::vector<float> limits = boundaries(*table_);
    kernels::encode_nearest(reinterpret_cast<const std::byte*>(scaled.data()), layer_.k, limits.data(),
                            table_->size(), codes);
  }

  double largest_step() const {
    double largest = 0;
    for (std::size_t i = 1; table_ != nullptr && i < table_->size(); ++i)
      largest = std::max(largest, static_cast<double>((*table_)[i]) - static_cast<double>((*table_)[i - 1]));
    if (table_ != nullptr) return largest * std::abs(static_cast<double>(affine_->scale));
    for (std::size_t block = 0; block * block_ < layer_.k; ++block)
      largest = std::max(largest, std::abs(static_cast<double>(affine_[block].scale)));
    return largest;
  }

  const LayerToRound& layer_;
  std::size_t block_;
  const float* weights_;
  const kernels::Affine* affine_;
  const std::vector<float>* table_;  // null: linear
};

// eᵀ H e for two vectors at once, because H may be large; in double, from the lower triangle. Rounding errors
// in H must not make it negative.
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
                    (layer.tables.empty() || (block == k && channels % layer.tables.size() == 0)) &&
                    std::all_of(layer.gram.begin(), layer.gram.end(),
                                [&](const std::vector<float>& gram) { return gram.size() == k * k; });
  if (!fits) throw Error(ErrorCode::kInternal, "the sizes of weights, scales and inputs do not match");
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
