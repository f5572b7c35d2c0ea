#include "base/cancel.h"

#include <gtest/gtest.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/thread_pool.h"

namespace ounce {
namespace {

// A request to stop is for the whole process, so it is made in one of its own.
TEST(CancelDeathTest, StopsALoopWithAnErrorThatSaysSo) {
  const auto stop_early = [] {
    ThreadPool pool(2);
    std::atomic<int> steps = 0;
    try {
      pool.for_each(1000, [&](std::size_t) {
        if (++steps == 5) request_cancel();
      });
    } catch (const Error& error) {
      std::exit(error.code() == ErrorCode::kCancelled && steps < 1000 ? 0 : 1);
    }
    std::exit(2);
  };
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(stop_early(), testing::ExitedWithCode(0), "");
}

TEST(CancelTest, ATimeLimitStopsToo) {
  {
    const TimeLimit limit(0);
    try {
      throw_if_cancelled();
      FAIL() << "nothing stopped it";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    }
    EXPECT_FALSE(is_cancelled());
  }
  EXPECT_NO_THROW(throw_if_cancelled());
}

TEST(CancelTest, TheEarlierLimitCounts) {
  const TimeLimit outer(0);
  const TimeLimit inner(1000);
  EXPECT_THROW(throw_if_cancelled(), Error);
}

TEST(CancelTest, ATimeLimitHoldsForThoseWhoWorkForIt) {
  ThreadPool pool(4);
  std::atomic<int> steps{0};
  {
    const TimeLimit limit(0);
    EXPECT_THROW(pool.for_each(100, [&](std::size_t) { ++steps; }), Error);
  }
  EXPECT_EQ(steps, 0);
  pool.for_each(100, [&](std::size_t) { ++steps; });
  EXPECT_EQ(steps, 100);
}

TEST(CancelTest, ATimeLimitIsNothingToOtherThreads) {
  const TimeLimit limit(0);
  bool is_stopped = false;
  std::thread([&] {
    ThreadPool pool(2);
    try {
      throw_if_cancelled();
      pool.for_each(10, [](std::size_t) { throw_if_cancelled(); });
    } catch (const Error&) {
      is_stopped = true;
    }
  }).join();
  EXPECT_FALSE(is_stopped);
}

TEST(CancelTest, NobodyIsStoppedWithoutARequest) { EXPECT_NO_THROW(throw_if_cancelled()); }

}  // namespace
}  // namespace ounce
