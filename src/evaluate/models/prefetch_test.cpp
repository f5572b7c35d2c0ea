#include "evaluate/models/feeds.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::evaluate {
namespace {

// A feed of batches named by their numbers; reading one of them can fail.
class CountedFeed : public data::Feed {
 public:
  explicit CountedFeed(std::uint64_t count, std::uint64_t fails_at = UINT64_MAX)
      : count_(count), fails_at_(fails_at) {}
  std::uint64_t batches() const override { return count_; }
  std::uint64_t samples() const override { return count_; }
  void read(std::uint64_t index, data::Batch& batch) override {
    if (index == fails_at_) throw Error(ErrorCode::kBadInput, "broken");
    batch.names = {std::to_string(index)};
  }

 private:
  std::uint64_t count_, fails_at_;
};

TEST(Prefetch, GivesEveryBatchInOrder) {
  CountedFeed numbers(1000);
  Prefetch batches(numbers);
  for (int i = 0; i < 1000; ++i) {
    const data::Batch* batch = batches.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->names[0], std::to_string(i));
  }
  EXPECT_EQ(batches.next(), nullptr);
  EXPECT_EQ(batches.next(), nullptr);
}

TEST(Prefetch, AnErrorComesAfterTheBatchesBeforeIt) {
  CountedFeed numbers(10, 2);
  Prefetch batches(numbers);
  EXPECT_NE(batches.next(), nullptr);
  EXPECT_NE(batches.next(), nullptr);
  EXPECT_EQ(ounce::test::error_of([&] { batches.next(); }).code(), ErrorCode::kBadInput);
}

TEST(Prefetch, MayBeLeftInTheMiddle) {
  for (const int taken : {0, 1, 5}) {
    CountedFeed numbers(100);
    Prefetch batches(numbers);
    for (int i = 0; i < taken; ++i) batches.next();
  }
}

}  // namespace
}  // namespace ounce::evaluate
