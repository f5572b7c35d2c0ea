#include "search/sensitivity_exclude.h"

#include <algorithm>
#include <cmath>

namespace ounce::search {
namespace {

constexpr int kMostTries = 16;
constexpr double kMoreThanEnough = 0.5;  // of the limit: perhaps fewer would do
constexpr double kDestroyed = 1e6;       // stands for noise that is no number

class Chooser {
 public:
  Chooser(const std::vector<GroupNoise>& groups, double all, double limit) : groups_(groups), limit_(limit) {
    all_ = std::min(all, kDestroyed);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (!groups[i].alone) continue;
      sum_ += noise(i);
      order_.push_back(i);
    }
    // What nobody measured brings what is left over.
    if (order_.size() != groups.size()) sum_ = std::max(sum_, all_);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  }

  Exclusion run(const std::function<double(const std::set<std::size_t>&)>& measure) {
    measure_ = &measure;
    best_ = {{}, all_, all_ <= limit_};
    if (best_.is_enough) return best_;
    if (const std::optional<std::size_t> one = smallest_that_is_enough())
      return {{*one}, *groups_[*one].without, true};
    std::set<std::size_t> chosen;  // the last that was not enough
    double correction = 1;         // of predictions, from the last measurement
    while (tries_ < kMostTries && chosen.size() < order_.size()) {
      const std::set<std::size_t> more = next(chosen, correction);
      const double measured = noise_without(more);
      if (best_.is_enough) {
        if (correction > 1 || best_.noise <= kMoreThanEnough * limit_) take_back(chosen);
        break;
      }
      correction = std::max(1.0, measured / std::max(predicted(more), 1e-30));
      chosen = more;
    }
    return best_;
  }

 private:
  double noise(std::size_t i) const { return std::min(*groups_[i].alone, kDestroyed); }
  double worth(std::size_t i) const { return noise(i) / static_cast<double>(groups_[i].bytes + 1); }

  double predicted(const std::set<std::size_t>& chosen) const {
    double left = sum_;
    for (const std::size_t i : chosen) left -= noise(i);
    return sum_ > 0 ? all_ * std::max(left, 0.0) / sum_ : all_;
  }

  double noise_without(const std::set<std::size_t>& chosen) {
    ++tries_;
    const double measured = std::min((*measure_)(chosen), kDestroyed);
    const bool is_enough = measured <= limit_;
    const bool is_better = is_enough ? !best_.is_enough || chosen.size() < best_.groups.size()
                                     : !best_.is_enough && measured < best_.noise;
    if (is_better) best_ = {chosen, measured, is_enough};
    return measured;
  }

  // What was enough may be more than is needed: the point between it and `chosen`, which was too little.
  void take_back(const std::set<std::size_t>& chosen) {
    std::vector<std::size_t> added;
    for (const std::size_t i : order_) {
      if (best_.groups.contains(i) && !chosen.contains(i)) added.push_back(i);
    }
    std::size_t too_few = 0, enough = added.size();
    while (enough - too_few > 1 && tries_ < kMostTries) {
      const std::size_t middle = (too_few + enough) / 2;
      std::set<std::size_t> fewer = chosen;
      fewer.insert(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(middle));
      (noise_without(fewer) <= limit_ ? enough : too_few) = middle;
    }
  }

  // One alone is measured already.
  std::optional<std::size_t> smallest_that_is_enough() const {
    std::optional<std::size_t> found;
    for (const std::size_t i : order_) {
      if (!groups_[i].without || !(*groups_[i].without <= limit_)) continue;
      if (!found || groups_[i].bytes < groups_[*found].bytes) found = i;
    }
    return found;
  }

  // More than `chosen`: until the prediction is under the limit, without what that does not need. Later tries
  // add faster, so that they come to an end.
  std::set<std::size_t> next(const std::set<std::size_t>& chosen, double correction) const {
    std::set<std::size_t> more = chosen;
    const std::size_t least = chosen.size() + 1 + (tries_ > 3 ? order_.size() / 8 : 0);
    for (const std::size_t i : order_) {
      if (more.size() >= least && predicted(more) * correction <= limit_) break;
      more.insert(i);
    }
    for (auto i = order_.rbegin(); i != order_.rend() && more.size() > least; ++i) {
      if (chosen.contains(*i) || !more.contains(*i)) continue;
      more.erase(*i);
      if (predicted(more) * correction > limit_) more.insert(*i);
    }
    return more;
  }

  const std::vector<GroupNoise>& groups_;
  std::vector<std::size_t> order_;  // most noise for a byte first
  double all_ = 0, limit_ = 0, sum_ = 0;
  const std::function<double(const std::set<std::size_t>&)>* measure_ = nullptr;
  Exclusion best_;
  int tries_ = 0;
};

}  // namespace

Exclusion choose_exclusion(const std::vector<GroupNoise>& groups, double all, double limit,
                           const std::function<double(const std::set<std::size_t>&)>& measure) {
  return Chooser(groups, all, limit).run(measure);
}

}  // namespace ounce::search
