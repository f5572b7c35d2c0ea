// Tests that run .tflite models do so in every version of LiteRT that ./setup litert brought. They are
// skipped where there is none, but not where set-up was to bring it: `make test` sets OUNCE_LITERT_REQUIRED.
//
//   struct SomeTest : test::LitertTest { … GetParam() … };
//   INSTANTIATE_TEST_SUITE_P(Versions, SomeTest, testing::ValuesIn(test::litert_versions()),
//   test::version_name);
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "runtime/places.h"
#include "support/runtime_versions.h"
#include "support/temporary_folder.h"

namespace ounce::test {

// An empty path, where there is none, for a test that says so.
inline std::vector<std::filesystem::path> litert_versions() {
  auto found = runtime::installed_libraries(model::ModelKind::kTflite);
  if (found.empty()) found.emplace_back("none/none/lib/libLiteRt.so");
  return found;
}

class LitertTest : public testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    if (std::filesystem::exists(GetParam())) return;
    constexpr const char* kMissing = "there is no LiteRT here: ./setup litert brings it";
    if (std::getenv("OUNCE_LITERT_REQUIRED") != nullptr) FAIL() << kMissing;
    GTEST_SKIP() << kMissing;
  }

  TemporaryFolder folder;
};

}  // namespace ounce::test
