#include "make/telling_runs.h"

#include <algorithm>
#include <numeric>

#include "measure/spread.h"

namespace ounce::make {
namespace {

// The part with the most noise for its size is the one that counts.
std::size_t worst_part(const std::vector<std::vector<measure::Difference>>& noise) {
  std::size_t worst = 0;
  double most = 0;
  for (std::size_t k = 0; k < noise.front().size(); ++k) {
    measure::Difference sum;
    for (const auto& run : noise) sum.add(run[k]);
    const double here = sum.squared > 0 ? sum.squared / sum.reference : 0;
    if (here <= most) continue;
    most = here;
    worst = k;
  }
  return worst;
}

}  // namespace

std::vector<std::size_t> telling_runs(const std::vector<std::vector<measure::Difference>>& noise,
                                      std::size_t runs, std::size_t count, bool is_state_carried) {
  std::vector<std::size_t> all(runs);
  std::iota(all.begin(), all.end(), 0);
  if (count >= runs) return all;
  if (is_state_carried) return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<std::size_t> chosen;
  if (noise.size() == runs && !noise.front().empty()) {
    const std::size_t part = worst_part(noise);
    std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      return noise[a][part].squared > noise[b][part].squared;
    });
    const auto half = all.begin() + static_cast<std::ptrdiff_t>(count / 2);
    chosen.assign(all.begin(), half);
    all.erase(all.begin(), half);
    std::sort(all.begin(), all.end());
  }
  for (const std::uint64_t i : measure::spread(all.size(), count - chosen.size(), false)) chosen.push_back(all[i]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace ounce::make
