// The fuzzers' checks with any compiler: on every seed and everything that once failed, and on damaged seeds,
// always the same ones. Models are damaged more in src/onnx/mutation_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "fuzz/targets.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

constexpr int kDamaged = 500;  // of each seed

// A few bytes become others, vanish or come twice.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end)(random);
  };
  for (std::size_t changes = 1 + below(3); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t place = below(bytes.size() - 1), count = 1 + below(7);
    switch (below(4)) {
      case 0: bytes[place] = static_cast<char>(below(255)); break;
      case 1: bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(7))); break;
      case 2: bytes.erase(place, count); break;
      case 3: bytes.insert(place, bytes.substr(place, count)); break;
      default: bytes.resize(place); break;
    }
  }
  return bytes;
}

class FuzzReplay : public testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, KeepsItsPromisesForAnyBytes) {
  const Target& target = GetParam();
  std::mt19937 random(1);
  int seeds = 0;
  EXPECT_NO_THROW(target.check(""));
  for (const char* kind : {"seeds", "regressions"}) {
    const auto folder = std::filesystem::path(OUNCE_FUZZ_FOLDER) / kind / target.name;
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string bytes = read_file(file.path());
      ++seeds;
      EXPECT_NO_THROW(target.check(bytes)) << file.path();
      for (int i = 0; i < kDamaged; ++i) {
        const std::string input = damaged(bytes, random);
        EXPECT_NO_THROW(target.check(input)) << file.path() << ", damaged " << i;
      }
    }
  }
  EXPECT_GT(seeds, 0);
}

std::string name_of(const testing::TestParamInfo<Target>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(targets().begin(), targets().end()), name_of);

}  // namespace
}  // namespace ounce::test
