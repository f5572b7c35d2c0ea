// Names for tests that run in every version of ONNX Runtime: INSTANTIATE_TEST_SUITE_P(Versions, SomeTest,
// testing::ValuesIn(Library::installed()), test::version_name);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace ounce::test {

// "v1_30_0" for …/1.30.0/lib/libonnxruntime.so
inline std::string version_name(const testing::TestParamInfo<std::filesystem::path>& library) {
  std::string name = "v" + library.param.parent_path().parent_path().filename().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace ounce::test
