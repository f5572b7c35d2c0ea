#include "fuzz/targets.h"

#include <array>

#include "fuzz/check_model.h"

namespace ounce::test {

std::span<const Target> targets() {
  static constexpr auto kTargets = std::to_array<Target>({
      {"model", [](const std::string& bytes) { check_model(bytes); }},
      {"npy", check_npy},
      {"npz", check_npz},
      {"zip", check_zip},
      {"wav", check_wav},
      {"contract", check_contract},
      {"ranges", check_ranges},
      {"journal", check_journal},
  });
  return kTargets;
}

}  // namespace ounce::test
