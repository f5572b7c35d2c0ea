#include "search/sensitivity_exclude.h"

#include <algorithm>
#include <limits>

#include "search/leave_out.h"

namespace ounce::search {
namespace {

constexpr int kMostTries = 16;
constexpr double kDestroyed = 1e6;  // stands for noise that is no number

// One alone is measured already: the smallest that is enough.
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
  std::vector<std::size_t> known;  // those that were measured
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].alone) continue;
    known.push_back(i);
    pieces.push_back({*groups[i].alone, static_cast<double>(groups[i].bytes + 1)});
  }
  int tries = 0;
  const auto passes = [&](const Pieces& left_out) {
    ++tries;
    std::set<std::size_t> chosen;
    for (const std::size_t i : left_out) chosen.insert(known[i]);
    const double noise = std::min(measure(chosen), kDestroyed);
    const bool is_enough = noise <= limit;
    const bool is_better = is_enough ? !best.is_enough || chosen.size() < best.groups.size()
                                     : !best.is_enough && !(noise >= best.noise);
    if (is_better) best = {std::move(chosen), noise, is_enough};
    return is_enough;
  };
  const LeaveOutQuestions ask{passes, [&] { return tries < kMostTries; }};
  auto found = shortest_passing(pieces, all, limit, ask);
  if (!found) return best;
  std::stable_sort(found->begin(), found->end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].cost < pieces[b].cost; });
  without_the_needless(*found, ask);
  return best;
}

}  // namespace ounce::search
