#include "data/source/noise_check.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ounce::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class ValueAt>
std::vector<std::string> notes_on(const Dims& dims, ValueAt value_at,
                                  ElementType element = ElementType::kFloat) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  Tensor tensor{element, dims, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const float value = value_at(i);
    tensor.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  ValueDescription input;
  input.name = "x";
  NoiseCheck check({input});
  check.add({tensor});
  return check.notes();
}

auto noise() {
  return [random = std::mt19937(1)](std::size_t) mutable {
    return static_cast<float>(random()) / static_cast<float>(std::mt19937::max());
  };
}
float wave(std::size_t i) { return std::sin(static_cast<float>(i) / 5); }

TEST(NoiseCheck, RandomImagesAndSoundsAreNoise) {
  EXPECT_THAT(notes_on({4, 3, 32, 32}, noise()), ElementsAre(HasSubstr("the input 'x' are unrelated")));
  EXPECT_THAT(notes_on({2, 1, 8000}, noise()), ElementsAre(HasSubstr("random numbers")));
  EXPECT_THAT(notes_on({1, 8000}, noise()), ElementsAre(HasSubstr("random numbers")));
}

TEST(NoiseCheck, SignalsAreNoNoise) {
  EXPECT_THAT(notes_on({2, 1, 8000}, wave), IsEmpty());
  // Rows of one value each: the other axis is noise.
  auto random = noise();
  float row = 0;
  EXPECT_THAT(notes_on({4, 32, 64},
                       [&](std::size_t i) {
                         if (i % 64 == 0) row = random(i);
                         return row + 0.1F * random(i);
                       }),
              IsEmpty());
}

TEST(NoiseCheck, SaysNothingAboutOtherInputs) {
  EXPECT_THAT(notes_on({64, 200}, noise()), IsEmpty());     // a table: its columns are no signal
  EXPECT_THAT(notes_on({1, 1, 1000}, noise()), IsEmpty());  // few values
  EXPECT_THAT(notes_on({2, 1, 8000}, [](std::size_t) { return 1.0F; }), IsEmpty());
  EXPECT_THAT(notes_on({2, 1, 8000}, noise(), ElementType::kInt32), IsEmpty());
  EXPECT_THAT(notes_on({2, 1, 8000}, [](std::size_t) { return std::numeric_limits<float>::quiet_NaN(); }),
              IsEmpty());
}

}  // namespace
}  // namespace ounce::data
