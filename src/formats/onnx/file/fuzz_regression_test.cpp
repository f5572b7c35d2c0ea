// Replays all inputs in tests/fuzz/regressions/model, which once caused a failure, with every compiler.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/check_model.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

TEST(FuzzRegressionTest, WhatOnceFailedStaysFixed) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(OUNCE_FUZZ_FOLDER "/regressions/model")) {
    EXPECT_NO_THROW(check_model(read_file(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace ounce::test
