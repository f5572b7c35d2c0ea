// Names for tests that run in every version of ONNX Runtime:
//
//   INSTANTIATE_TEST_SUITE_P(Versions, SomeTest, testing::ValuesIn(Library::installed()),
//   test::version_name);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace ounce::test {

// "v1_30_0" for …/1.30.0/lib/libonnxruntime.so
inline std::string version_name(const testing::TestParamInfo<std::filesystem::path>& library) {
  std::string name = "v" + library.param.parent_path().parent_path().filename().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

// ONNX Runtime 1.22.0 gives wrong INT8 results on CPUs with AMX: the accuracy of the example falls by 3.5
// points, and 2 of 8 predictions change. Release 1.30.0 is correct.
inline bool has_wrong_amx_kernels(const std::string& version) {
  if (version != "1.22.0") return false;
  std::ifstream cpu("/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(cpu)), std::istreambuf_iterator<char>());
  return text.find(" amx_int8") != std::string::npos;
}

}  // namespace ounce::test
