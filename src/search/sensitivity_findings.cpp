#include "search/sensitivity_findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace ounce::search {
namespace {

constexpr double kNotable = 0.1;   // of the noise: less is no news
constexpr double kSeveral = 3;     // times its share of the weights, or of an even share
constexpr std::size_t kWorst = 3;  // who belongs to the worst
constexpr double kHarmless = 60;   // dB: the format costs nothing worth telling

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
    is_harmless_ = result.all_db >= kHarmless;
  }

  std::vector<std::string> find() {
    if (groups_.empty()) return {};
    if (is_harmless_) return {"no layer suffers: the outputs are close to exact"};
    add_standout();
    add_end(&GroupSensitivity::is_first, "first");
    add_end(&GroupSensitivity::is_last, "last");
    add_attention();
    if (findings_.empty() && groups_.size() > 1)
      findings_.emplace_back("nothing stands out: every layer takes its share");
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
    return fmt::format("{:.0f} % of the noise with {:.1f} % of the weights", 100 * part.noise,
                       100 * part.weights);
  }

  // One that brings several times an even share of the noise, and most of it.
  void add_standout() {
    const GroupSensitivity& worst = *groups_.front();
    if (groups_.size() < 2 || worst.is_first || worst.is_last) return;
    const double even = 1.0 / static_cast<double>(groups_.size());
    if (worst.share < 0.5 && (worst.share < kSeveral * even || worst.share < 2 * groups_[1]->share)) return;
    if (worst.share < kNotable) return;
    findings_.push_back(
        fmt::format("'{}' stands out: {}", worst.name,
                    shares(part_of([&](const GroupSensitivity& group) { return &group == &worst; }))));
  }

  void add_end(bool GroupSensitivity::*is_end, const char* which) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const GroupSensitivity& group = *groups_[i];
      if (!(group.*is_end) || groups_.size() < 2 * kWorst) continue;
      const Part part = part_of([&](const GroupSensitivity& other) { return &other == &group; });
      const bool is_worst = i < kWorst && part.noise >= kNotable && part.noise >= part.weights;
      if (!is_worst && (part.noise < kNotable || part.noise < kSeveral * part.weights)) continue;
      findings_.push_back(fmt::format("the {} layer, '{}', is {}sensitive, as is usual: {}", which,
                                      group.name, i == 0 ? "the most " : "", shares(part)));
      return;
    }
  }

  void add_attention() {
    const Part part = part_of([](const GroupSensitivity& group) { return group.is_attention; });
    if (part.groups == 0 || part.groups == groups_.size()) return;
    if (part.noise < 0.5 || part.noise < 1.5 * part.weights) return;
    findings_.push_back(
        fmt::format("attention is sensitive: its {} layers bring {}", part.groups, shares(part)));
  }

  std::vector<const GroupSensitivity*> groups_;  // measured, worst first
  double weights_ = 0;
  bool is_harmless_ = false;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> find_findings(const SensitivityResult& result) { return Findings(result).find(); }

}  // namespace ounce::search
