#include "base/cancel.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/thread_pool.h"

namespace ounce {
namespace {

TEST(CancelTest, StopsALoopWithAnErrorThatSaysSo) {
  Progress progress;
  const CancellationScope scope(&progress);
  ThreadPool pool(2);
  std::atomic<int> steps = 0;
  try {
    pool.for_each(1000, [&](std::size_t) {
      if (++steps == 5) progress.stop();
    });
    FAIL() << "nothing stopped it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  EXPECT_LT(steps, 1000);
  EXPECT_TRUE(is_cancelled());
}

TEST(CancelTest, ShortStepsAskNowAndThen) {
  Progress progress;
  const CancellationScope scope(&progress);
  for (int i = 0; i < 5000; ++i) count_step();  // not stopped
  progress.stop();
  const std::uint64_t before = counted_steps();
  EXPECT_THROW(
      {
        for (int i = 0; i < 5000; ++i) count_step();
      },
      Error);
  EXPECT_LE(counted_steps() - before, 1024U);
}

TEST(CancelTest, ACallInsideOfAStoppedOneIsStoppedToo) {
  Progress outer, inner;
  const CancellationScope scope(&outer);
  outer.stop();
  const CancellationScope inside(&inner);
  EXPECT_THROW(throw_if_cancelled(), Error);
}

TEST(CancelTest, ACallAroundAStoppedOneGoesOn) {
  Progress outer, inner;
  const CancellationScope scope(&outer);
  {
    const CancellationScope inside(&inner);
    inner.stop();
    EXPECT_THROW(throw_if_cancelled(), Error);
  }
  EXPECT_NO_THROW(throw_if_cancelled());
}

TEST(CancelTest, CallsSideBySideDoNotTouchEachOther) {
  Progress stopped, other;
  stopped.stop();
  const auto ends = [](const Progress& progress) {
    const CancellationScope scope(&progress);
    ThreadPool pool(3);
    try {
      pool.for_each(100, [](std::size_t) { throw_if_cancelled(); });
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  bool first = false, second = true;
  std::thread one([&] { first = ends(stopped); }), two([&] { second = ends(other); });
  one.join();
  two.join();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
}

TEST(CancelTest, ADeadlineOfTheCallIsAStop) {
  Progress progress;
  progress.stop_after(std::chrono::nanoseconds(0));
  const CancellationScope scope(&progress);
  EXPECT_TRUE(is_cancelled());
  EXPECT_THROW(throw_if_cancelled(), Error);
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
