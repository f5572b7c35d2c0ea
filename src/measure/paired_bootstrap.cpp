#include "measure/paired_bootstrap.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace ounce::measure {
namespace {

// Poisson(1) of a uniform 16-bit number, as a table.
const std::array<std::uint8_t, 65536>& poisson_table() {
  static const auto table = [] {
    std::array<std::uint8_t, 65536> made{};
    double mass = std::exp(-1.0), cumulative = mass;
    std::uint8_t value = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      while ((static_cast<double>(i) + 0.5) / 65536 > cumulative) {
        ++value;
        mass /= value;
        cumulative += mass;
      }
      made[i] = value;
    }
    return made;
  }();
  return table;
}

}  // namespace

void draw_weights(std::uint64_t sample, std::array<std::uint8_t, kReplicas>& weights) {
  const auto& table = poisson_table();
  Random random(sample * 0xd1342543de82ef95 + 1);
  static_assert(kReplicas % 4 == 0);
  for (std::size_t i = 0; i < kReplicas; i += 4) {
    const std::uint64_t bits = random.bits();
    for (std::size_t k = 0; k < 4; ++k) weights[i + k] = table[(bits >> (16 * k)) & 0xffff];
  }
}

Interval middle(std::vector<double> results) {
  std::erase_if(results, [](double value) { return std::isnan(value); });
  if (results.empty()) return {};
  std::sort(results.begin(), results.end());
  const auto at = [&](double share) {
    return results[static_cast<std::size_t>(std::lround(share * static_cast<double>(results.size() - 1)))];
  };
  return {at(0.025), at(0.975)};
}

void PairedMean::add(double reference, double candidate, double count) {
  draw_weights(samples_++, weights_);
  all_.reference += reference;
  all_.candidate += candidate;
  all_.count += count;
  for (std::size_t i = 0; i < kReplicas; ++i) {
    const double weight = weights_[i];
    replicas_[i].reference += weight * reference;
    replicas_[i].candidate += weight * candidate;
    replicas_[i].count += weight * count;
  }
}

Interval PairedMean::difference(const std::function<double(double)>& transform) const {
  std::vector<double> results;
  results.reserve(kReplicas);
  for (const Sums& sums : replicas_) {
    if (sums.count == 0) continue;
    results.push_back(transform(sums.reference / sums.count) - transform(sums.candidate / sums.count));
  }
  return middle(std::move(results));
}

}  // namespace ounce::measure
