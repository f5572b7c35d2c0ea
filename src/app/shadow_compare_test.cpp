#include "app/shadow.h"

#include <gmock/gmock.h>

#include <ostream>
#include <utility>
#include <vector>

#include "evaluate/compare/difference.h"
#include "support/tensor_of.h"

namespace ounce::app {
namespace {

using data::test::described;
using data::test::tensor_of;

struct Counted {
  std::uint64_t answers = 0, others = 0;
  bool operator==(const Counted&) const = default;
};
void PrintTo(const Counted& counted, std::ostream* out) {
  *out << counted.others << " of " << counted.answers;
}

// The counts of verify() and of the shadow for an output of this shape with every third value changed.
template <class T>
std::pair<Counted, Counted> counted(const data::Dims& declared, const data::Dims& dims) {
  std::size_t count = 1;
  for (const std::int64_t size : dims) count *= static_cast<std::size_t>(size);
  std::vector<T> ours(count), theirs(count);
  for (std::size_t i = 0; i < count; ++i) {
    ours[i] = static_cast<T>(i * 37 % 101);
    theirs[i] = static_cast<T>(i % 3 == 0 ? i * 53 % 97 : i * 37 % 101);
  }
  const data::Tensor a = tensor_of<T>(dims, ours), b = tensor_of<T>(dims, theirs);
  const data::ValueDescription output = described("y", a.type, declared);
  ShadowOutput sums;
  EXPECT_TRUE(add_comparison(output, a, b, sums));
  evaluate::OutputMeter meter(output, std::nullopt);
  meter.add(a, b);
  EXPECT_NEAR(sums.sqnr_db(), meter.difference().sqnr_db(), 1e-9);
  return {{sums.answers, sums.flips}, {meter.answers(), meter.other_answers()}};
}

TEST(ShadowCompare, CountsAnswersAsVerifyDoes) {
  const auto expect_same = [](const data::Dims& declared, const data::Dims& dims, std::uint64_t answers) {
    const auto [ours, verified] = counted<float>(declared, dims);
    EXPECT_EQ(ours, verified) << dims.size() << " dimensions";
    EXPECT_EQ(ours.answers, answers) << dims.size() << " dimensions";
  };
  expect_same({-1, 10}, {3, 10}, 3);
  expect_same({-1, -1, 7}, {2, 5, 7}, 10);
  expect_same({-1, -1, 3}, {2, 5, 3}, 10);                // three classes per token
  expect_same({-1, 21, 8, 8}, {2, 21, 8, 8}, 2 * 8 * 8);  // 21 classes per pixel
  expect_same({-1, 3, 2, 4, 4}, {1, 3, 2, 4, 4}, 2 * 4 * 4);
  expect_same({-1, -1}, {1, 9}, 0);  // a dynamic axis is not a class axis
  expect_same({-1, 1}, {4, 1}, 0);
}

TEST(ShadowCompare, CountsLabelsAsVerifyDoes) {
  const auto [ours, verified] = counted<std::int64_t>({-1}, {12});
  EXPECT_EQ(ours, verified);
  EXPECT_EQ(ours.answers, 12U);
  EXPECT_GT(ours.others, 0U);
}

}  // namespace
}  // namespace ounce::app
