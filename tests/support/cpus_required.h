// Tests that need another CPU or architecture are skipped where there is none, but not where set-up was to
// bring it: `make test` sets OUNCE_CPUS_REQUIRED.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ounce::test {

// Call at the end of SetUp(); `missing` says what there is not, and is empty when all is there.
inline void skip_or_fail(const std::string& missing) {
  if (missing.empty()) return;
  if (std::getenv("OUNCE_CPUS_REQUIRED") != nullptr) FAIL() << missing;
  GTEST_SKIP() << missing;
}

}  // namespace ounce::test
