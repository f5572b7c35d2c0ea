// Tests that need an emulated CPU or architecture are skipped if it is missing. They fail instead if
// OUNCE_CPUS_REQUIRED is set, as `make test` does after ./setup has installed the emulators.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ounce::test {

// Call at the end of SetUp(). `missing` names the missing part; empty if nothing is missing.
inline void skip_or_fail(const std::string& missing) {
  if (missing.empty()) return;
  if (std::getenv("OUNCE_CPUS_REQUIRED") != nullptr) FAIL() << missing;
  GTEST_SKIP() << missing;
}

}  // namespace ounce::test
