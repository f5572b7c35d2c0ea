// Tests that run .tflite models run in every version of LiteRT that ./setup litert has installed. They are
// skipped if there is none, and fail instead if OUNCE_LITERT_REQUIRED is set, as `make test` does.
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

// Returns one empty path if no version is installed, so that a test can report it.
inline std::vector<std::filesystem::path> litert_versions() {
  auto found = runtime::installed_libraries(model::ModelKind::kTflite);
  if (found.empty()) found.emplace_back("none/none/lib/libLiteRt.so");
  return found;
}

class LitertTest : public testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    if (std::filesystem::exists(GetParam())) return;
    constexpr const char* kMissing = "LiteRT is not installed: run ./setup litert";
    if (std::getenv("OUNCE_LITERT_REQUIRED") != nullptr) FAIL() << kMissing;
    GTEST_SKIP() << kMissing;
  }

  TemporaryFolder folder;
};

}  // namespace ounce::test
