// How sure is the difference of two means over the same samples? A paired bootstrap that never holds the
// samples: each sample takes part in each of the replicas a Poisson(1) number of times, which is what drawing
// with replacement comes to when samples are many.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ounce::measure {

inline constexpr std::size_t kReplicas = 1000;

// How often sample number `sample` takes part in each replica. The same for every run.
void draw_weights(std::uint64_t sample, std::array<std::uint8_t, kReplicas>& weights);

struct Interval {
  double low = 0, high = 0;
};
// The middle 95 % of the replicas' results.
Interval middle(std::vector<double> results);

// Two ratios of sums, such as correct answers / answers, of the reference and of the candidate.
class PairedMean {
 public:
  // One sample: the sums of its values, and how many values they are.
  void add(double reference, double candidate, double count = 1);

  // NaN when nothing was counted.
  double reference() const { return all_.reference / all_.count; }
  double candidate() const { return all_.candidate / all_.count; }
  // Of transform(reference) − transform(candidate).
  Interval difference(const std::function<double(double)>& transform) const;

 private:
  struct Sums {
    double reference = 0, candidate = 0, count = 0;
  };
  std::uint64_t samples_ = 0;
  Sums all_;
  std::vector<Sums> replicas_ = std::vector<Sums>(kReplicas);
  std::array<std::uint8_t, kReplicas> weights_{};
};

}  // namespace ounce::measure
