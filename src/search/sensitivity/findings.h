// Describes which layers are sensitive, and chooses the layers to exclude.
#pragma once

#include <ounce/recipe.h>
#include <ounce/search.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ounce::search {

// Describes the sensitive layers: single outliers, the first and last layer, attention, and only if the
// measurements confirm it. The groups of `result` must be measured and sorted, the most sensitive first.
std::vector<std::string> find_findings(const SensitivityResult& result);

struct GroupNoise {
  std::optional<double> alone;  // output noise / signal if only this group is quantized; empty: not measured
  std::optional<double> without;  // output noise / signal if all other groups are quantized
  std::uint64_t bytes = 0;        // size of its weights
};

struct Exclusion {
  std::set<std::size_t> groups;
  double noise = 0;  // measured
  bool is_enough = false;
};

// Chooses the groups to exclude from quantization so that the noise of the others is at most `limit`, at the
// least cost in bytes (search/tune/repair.h). `all` is the noise if everything is quantized; `measure`
// returns the noise without some groups. Returns the best measured choice if none reaches the limit.
Exclusion choose_exclusion(const std::vector<GroupNoise>& groups, double all, double limit,
                           const std::function<double(const std::set<std::size_t>&)>& measure);

}  // namespace ounce::search
