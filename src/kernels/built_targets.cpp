#include "kernels/built_targets.h"

#include <cstdint>

#include "kernels/simd_targets.h"
// Highway's own headers come behind the choice of targets.
#include <hwy/highway.h>

namespace ounce::kernels {

std::vector<std::string> built_targets() {
  std::vector<std::string> names;
  // A bit for each, the best lowest.
  constexpr std::uint64_t kBuilt = HWY_TARGETS;
  for (std::uint64_t target = 1; target != 0; target <<= 1) {
    if ((kBuilt & target) != 0) names.emplace_back(hwy::TargetName(static_cast<std::int64_t>(target)));
  }
  return names;
}

}  // namespace ounce::kernels
