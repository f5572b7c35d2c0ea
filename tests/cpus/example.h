// The example for the tests on other CPUs.
#pragma once

#include <filesystem>

namespace ounce::test {

inline const std::filesystem::path kExample = std::filesystem::path(OUNCE_EXAMPLES) / "commands";

}  // namespace ounce::test
