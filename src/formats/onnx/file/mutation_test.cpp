// A small deterministic fuzzer: a few seconds in every test run, in addition to minutes of libFuzzer.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/check_model.h"
#include "fuzz/sample_models.h"

namespace ounce::test {
namespace {

constexpr int kMutationsPerModel = 1500;

std::string mutated(std::string bytes, const std::vector<Sample>& samples, std::mt19937& random) {
  const auto place = [&] { return random() % bytes.size(); };
  for (auto changes = 1 + random() % 3; changes != 0 && !bytes.empty(); --changes) {
    switch (random() % 7) {
      case 0: bytes[place()] = static_cast<char>(random()); break;
      case 1: bytes[place()] ^= static_cast<char>(1U << random() % 8); break;
      case 2: bytes.erase(place(), 1 + random() % 8); break;
      case 3: bytes.insert(place(), 1 + random() % 11, random() % 2 == 0 ? '\xff' : '\0'); break;
      case 4: bytes.insert(place(), bytes.substr(place(), 1 + random() % 40)); break;
      case 5: bytes[place()] += static_cast<char>(random() % 2 == 0 ? 1 : -1); break;
      default: {
        const std::string& other = samples[random() % samples.size()].bytes;
        bytes.insert(place(), other.substr(random() % other.size(), 1 + random() % 60));
      }
    }
  }
  return bytes;
}

std::string in_hex(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes)
    (text += kDigits[static_cast<unsigned char>(c) >> 4U]) += kDigits[static_cast<unsigned char>(c) & 15U];
  return text;
}

TEST(MutationTest, AnyBytesAreRefusedOrAreAModel) {
  const std::vector<Sample> samples = sample_models();
  std::mt19937 random(20250101);
  int sound = 0;
  for (const Sample& sample : samples) {
    for (int i = 0; i < kMutationsPerModel; ++i) {
      const std::string bytes = mutated(sample.bytes, samples, random);
      ASSERT_NO_THROW(sound += check_model(bytes) ? 1 : 0)
          << "mutation " << i << " of " << sample.name << ": " << in_hex(bytes);
    }
  }
  EXPECT_GT(sound, kMutationsPerModel / 10);  // otherwise only the first lines of the reader are tested
}

}  // namespace
}  // namespace ounce::test
