// Some of many, evenly spread: data is often in some order, so the first ones would not do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ounce::measure {

// `wanted` of the numbers 0 … all - 1, in their order. `is_sequence`: the first ones, as each follows from
// the one before.
inline std::vector<std::uint64_t> spread(std::uint64_t all, std::uint64_t wanted, bool is_sequence) {
  std::vector<std::uint64_t> chosen;
  const std::uint64_t count = std::min(all, wanted);
  for (std::uint64_t i = 0; i < count; ++i) chosen.push_back(is_sequence ? i : i * all / count);
  return chosen;
}

}  // namespace ounce::measure
