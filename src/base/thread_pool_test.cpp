#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace ounce {
namespace {

class ThreadPoolTest : public testing::TestWithParam<unsigned> {};

TEST_P(ThreadPoolTest, RunsEveryStepOnce) {
  ThreadPool pool(GetParam());
  for (std::size_t steps : {0U, 1U, 2U, 3U, 1000U}) {
    std::vector<std::atomic<int>> runs(steps);
    pool.for_each(steps, [&](std::size_t i) { runs[i]++; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST_P(ThreadPoolTest, PassesOnTheExceptionOfAStepAndStaysUsable) {
  ThreadPool pool(GetParam());
  const auto fail_at_seven = [](std::size_t i) {
    if (i == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(pool.for_each(100, fail_at_seven), std::runtime_error);
  std::atomic<int> runs = 0;
  pool.for_each(50, [&](std::size_t) { runs++; });
  EXPECT_EQ(runs, 50);
}

// Two loops at the same time would mix up their steps.
TEST_P(ThreadPoolTest, RefusesALoopInsideOfALoop) {
  ThreadPool pool(GetParam());
  std::atomic<int> inner = 0;
  const auto nested = [&](std::size_t) { pool.for_each(3, [&](std::size_t) { inner++; }); };
  try {
    pool.for_each(4, nested);
    FAIL() << "the failure was not reported";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
  }
  EXPECT_EQ(inner, 0);
  std::atomic<int> runs = 0;
  pool.for_each(50, [&](std::size_t) { runs++; });
  EXPECT_EQ(runs, 50);
}

// A typo in the number of threads must not overload the machine.
TEST(ThreadPoolLimitTest, AsksForNoMoreThreadsThanMakeSense) {
  ThreadPool pool(4'000'000'000U);
  EXPECT_LE(pool.size(), 256U);
  std::atomic<int> runs = 0;
  pool.for_each(1000, [&](std::size_t) { runs++; });
  EXPECT_EQ(runs, 1000);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1U, 2U, 5U));

}  // namespace
}  // namespace ounce
