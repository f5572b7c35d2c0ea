#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace ounce {
namespace {

constexpr std::uint64_t kLarge = std::uint64_t{64} << 20;

TEST(JobsTest, EveryJobRunsOnceWithAllOfItsSteps) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> runs(20);
    std::vector<std::atomic<int>> steps(20);
    run_jobs(
        pool, runs.size(), [](std::size_t i) { return i % 3 == 0 ? kLarge : 10; },
        [&](std::size_t i, const ForEach& for_each) {
          ++runs[i];
          for_each(7, [&](std::size_t) { ++steps[i]; });
        });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    for (const auto& count : steps) EXPECT_EQ(count, 7);
  }
}

TEST(JobsTest, AnExceptionOfAStepReachesTheCaller) {
  ThreadPool pool(3);
  for (const std::uint64_t bytes : {std::uint64_t{1}, kLarge}) {
    const auto run = [&](std::size_t, const ForEach& for_each) {
      for_each(5, [](std::size_t step) {
        if (step == 3) throw std::runtime_error("three");
      });
    };
    EXPECT_THROW(run_jobs(
                     pool, 4, [&](std::size_t) { return bytes; }, run),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace ounce
