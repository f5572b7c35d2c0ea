// Runs the fuzzers' checks with any compiler, reproducibly: on all seeds and former failures, on damaged
// seeds, on every single change of small seeds, and on models and texts with a valid encoding but changed
// content. More damaged models are in src/formats/onnx/file/mutation_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "fuzz/every_damage.h"
#include "fuzz/mutate_json.h"
#include "fuzz/mutate_model.h"
#include "fuzz/sample_networks.h"
#include "fuzz/targets.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

constexpr int kDamaged = 500;           // variants per seed
constexpr std::size_t kSmall = 256;     // bytes of seeds for which every change is tried
constexpr std::uint64_t kMutants = 40;  // per model and recipe, and per JSON text

// Changes, removes or repeats a few bytes.
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

std::vector<std::filesystem::path> seeds_of(const Target& target) {
  std::vector<std::filesystem::path> files;
  for (const char* kind : {"seeds", "regressions"}) {
    const auto folder = std::filesystem::path(OUNCE_FUZZ_FOLDER) / kind / target.name;
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class FuzzReplay : public testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, KeepsItsPromisesForAnyBytes) {
  const Target& target = GetParam();
  std::mt19937 random(1);
  EXPECT_NO_THROW(target.check(""));
  for (const auto& file : seeds_of(target)) {
    const std::string bytes = read_file(file);
    EXPECT_NO_THROW(target.check(bytes)) << file;
    for (int i = 0; i < kDamaged; ++i) {
      const std::string input = damaged(bytes, random);
      EXPECT_NO_THROW(target.check(input)) << file << ", damaged " << i;
    }
  }
}

TEST_P(FuzzReplay, KeepsItsPromisesForEverySmallDamage) {
  const Target& target = GetParam();
  for (const auto& file : seeds_of(target)) {
    const std::string bytes = read_file(file);
    if (bytes.size() > kSmall) continue;
    for_every_damage(bytes, [&](const std::string& input) { EXPECT_NO_THROW(target.check(input)) << file; });
  }
}

TEST(FuzzReplay, TextsOfBrokenMeaningAreRefusedOrTaken) {
  for (const Target& target : targets()) {
    if (target.mutate != mutate_json) continue;
    for (const auto& file : seeds_of(target)) {
      const std::string bytes = read_file(file);
      for (std::uint64_t seed = 0; seed < kMutants; ++seed) {
        const std::string mutant = mutate_json(bytes, seed);
        EXPECT_NO_THROW(target.check(mutant)) << file << ", seed " << seed << "\n" << mutant;
      }
    }
  }
}

TEST(FuzzReplay, ModelsOfBrokenMeaningAreRefusedOrQuantized) {
  constexpr char kRecipes = 16;
  const std::vector<std::string> networks = {integer_network(17), network_with_branches(),
                                             network_with_functions(), network_with_fills(9)};
  std::uint64_t seed = 0;
  for (const std::string& network : networks) {
    for (char recipe = 0; recipe < kRecipes; ++recipe) {
      for (std::uint64_t i = 0; i < kMutants; ++i) {
        const std::string mutant = mutate_model(network, ++seed);
        EXPECT_NO_THROW(check_quantize(recipe + mutant)) << "seed " << seed;
      }
    }
  }
}

std::string name_of(const testing::TestParamInfo<Target>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Targets, FuzzReplay, testing::ValuesIn(targets().begin(), targets().end()), name_of);

}  // namespace
}  // namespace ounce::test
