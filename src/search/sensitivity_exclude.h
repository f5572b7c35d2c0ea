// Which groups to leave out so that what is left reaches a limit, at the least cost in bytes
// (search/leave_out.h)?
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace ounce::search {

struct GroupNoise {
  std::optional<double> alone;    // noise over signal of the outputs; none: not measured
  std::optional<double> without;  // … when all but this is quantized
  std::uint64_t bytes = 0;        // of its weights
};

struct Exclusion {
  std::set<std::size_t> groups;
  double noise = 0;  // measured
  bool is_enough = false;
};

// `all` is the noise when everything is quantized; `measure` tells the noise without some groups. The best
// that was seen, when nothing is enough.
Exclusion choose_exclusion(const std::vector<GroupNoise>& groups, double all, double limit,
                           const std::function<double(const std::set<std::size_t>&)>& measure);

}  // namespace ounce::search
