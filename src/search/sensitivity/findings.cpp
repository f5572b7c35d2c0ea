#include "search/sensitivity/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quality.h"
#include "search/tune/repair.h"

namespace ounce::search {
namespace {

constexpr double kNotable = 0.1;   // smallest share of the noise that is reported
constexpr double kSeveral = 3;     // share of the noise / share of the weights (or even share) of an outlier
constexpr std::size_t kWorst = 3;  // number of groups that count as the worst

struct Part {
  double noise = 0, weights = 0;  // shares
  std::size_t groups = 0;
};

class Findings {
 public:
  explicit Findings(const SensitivityResult& result) {
    for (const GroupSensitivity& group : result.groups) {
      if (!group.is_measured) continue;
      groups_.push_back(&group);
      weights_ += static_cast<double>(group.weight_bytes);
    }
    is_harmless_ = result.all_db >= Quality::kHarmless;
  }

  std::vector<std::string> find() {
    if (groups_.empty()) return {};
    if (is_harmless_) return {"no layer is sensitive: the output error is negligible"};
    add_standout();
    add_end(&GroupSensitivity::is_first, "first");
    add_end(&GroupSensitivity::is_last, "last");
    add_attention();
    if (findings_.empty() && groups_.size() > 1)
      findings_.emplace_back("no layer is much more sensitive than the others");
    return std::move(findings_);
  }

 private:
  template <class Is>
  Part part_of(Is is) const {
    Part part;
    for (const GroupSensitivity* group : groups_) {
      if (!is(*group)) continue;
      part.noise += group->share;
      part.weights += weights_ > 0 ? static_cast<double>(group->weight_bytes) / weights_ : 0;
      ++part.groups;
    }
    return part;
  }
  static std::string shares(const Part& part) {
    return fmt::format("{:.0f} % of the noise, {:.1f} % of the weights", 100 * part.noise,
                       100 * part.weights);
  }

  // Reports the worst group if it causes several times an even share of the noise, or at least half of it.
  void add_standout() {
    const GroupSensitivity& worst = *groups_.front();
    if (groups_.size() < 2 || worst.is_first || worst.is_last) return;
    const double even = 1.0 / static_cast<double>(groups_.size());
    if (worst.share < 0.5 && (worst.share < kSeveral * even || worst.share < 2 * groups_[1]->share)) return;
    if (worst.share < kNotable) return;
    findings_.push_back(
        fmt::format("'{}' is by far the most sensitive: {}", worst.name,
                    shares(part_of([&](const GroupSensitivity& group) { return &group == &worst; }))));
  }

  void add_end(bool GroupSensitivity::*is_end, const char* which) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const GroupSensitivity& group = *groups_[i];
      if (!(group.*is_end) || groups_.size() < 2 * kWorst) continue;
      const Part part = part_of([&](const GroupSensitivity& other) { return &other == &group; });
      const bool is_worst = i < kWorst && part.noise >= kNotable && part.noise >= part.weights;
      if (!is_worst && (part.noise < kNotable || part.noise < kSeveral * part.weights)) continue;
      findings_.push_back(fmt::format("the {} layer, '{}', is {}sensitive, as usual: {}", which, group.name,
                                      i == 0 ? "the most " : "", shares(part)));
      return;
    }
  }

  void add_attention() {
    const Part part = part_of([](const GroupSensitivity& group) { return group.is_attention; });
    if (part.groups == 0 || part.groups == groups_.size()) return;
    if (part.noise < 0.5 || part.noise < 1.5 * part.weights) return;
    findings_.push_back(fmt::format("attention is sensitive: {} layers cause {}", part.groups, shares(part)));
  }

  std::vector<const GroupSensitivity*> groups_;  // measured, worst first
  double weights_ = 0;
  bool is_harmless_ = false;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> find_findings(const SensitivityResult& result) { return Findings(result).find(); }

namespace {

constexpr int kMostTries = 16;

// Returns the smallest single group whose exclusion is enough. These variants have been measured.
std::optional<std::size_t> one_that_is_enough(const std::vector<GroupNoise>& groups, double limit) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].alone || !groups[i].without || !(*groups[i].without <= limit)) continue;
    if (!found || groups[i].bytes < groups[*found].bytes) found = i;
  }
  return found;
}

}  // namespace

Exclusion choose_exclusion(const std::vector<GroupNoise>& groups, double all, double limit,
                           const std::function<double(const std::set<std::size_t>&)>& measure) {
  Exclusion best{{}, std::min(all, kDestroyed), all <= limit};
  if (best.is_enough) return best;
  if (const auto one = one_that_is_enough(groups, limit)) return {{*one}, *groups[*one].without, true};
  std::vector<std::size_t> known;  // measured groups
  std::vector<Option> options;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].alone) continue;
    known.push_back(i);
    options.push_back({*groups[i].alone, static_cast<double>(groups[i].bytes + 1)});
  }
  int tries = 0;
  const auto passes = [&](const Indices& some) {
    ++tries;
    std::set<std::size_t> chosen;
    for (const std::size_t i : some) chosen.insert(known[i]);
    const double noise = std::min(measure(chosen), kDestroyed);
    const bool is_enough = noise <= limit;
    const bool is_better = is_enough ? !best.is_enough || chosen.size() < best.groups.size()
                                     : !best.is_enough && !(noise >= best.noise);
    if (is_better) best = {std::move(chosen), noise, is_enough};
    return is_enough;
  };
  const PassingTest ask{passes, [&] { return tries < kMostTries; }};
  auto found = cheapest_passing(options, all, limit, ask);
  if (!found) return best;
  std::stable_sort(found->begin(), found->end(),
                   [&](std::size_t a, std::size_t b) { return options[a].cost < options[b].cost; });
  drop_unneeded(*found, ask);
  return best;
}

}  // namespace ounce::search
