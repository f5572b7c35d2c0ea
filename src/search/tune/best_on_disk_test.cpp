#include "search/tune/tuning.h"

#include <gmock/gmock.h>

#include <vector>

namespace ounce::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct BestOnDiskTest : testing::Test {
  std::vector<std::size_t> written;
  BestOnDisk best{[this](std::size_t candidate) { written.push_back(candidate); }};
};

TEST_F(BestOnDiskTest, WhatIsExpectedIsWrittenOnceAndLater) {
  best.expect(1);
  EXPECT_THAT(written, IsEmpty());
  EXPECT_FALSE(best.there());
  best.put_in_place();
  best.put_in_place();
  EXPECT_THAT(written, ElementsAre(1));
  EXPECT_EQ(best.there(), 1U);
}

TEST_F(BestOnDiskTest, OnlyTheLastThatIsExpectedIsWritten) {
  best.expect(1);
  best.expect(2);
  best.put_in_place();
  EXPECT_THAT(written, ElementsAre(2));
}

TEST_F(BestOnDiskTest, WhatIsThereStaysWhenItIsTheBestAgain) {
  best.write(1);
  best.expect(2);
  best.expect(1);
  best.put_in_place();
  EXPECT_THAT(written, ElementsAre(1));
  EXPECT_EQ(best.there(), 1U);
}

TEST_F(BestOnDiskTest, NothingOlderFollowsWhatWasWritten) {
  best.expect(1);
  best.write(2);
  best.put_in_place();
  EXPECT_THAT(written, ElementsAre(2));
}

}  // namespace
}  // namespace ounce::search
