#include "base/machine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ounce {
namespace {

TEST(ThreadTime, WorkTakesCpuTimeAndSleepDoesNot) {
  const double before = thread_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(thread_cpu_seconds() - before, 0.04);
  volatile double sum = 0;
  while (thread_cpu_seconds() - before < 0.05) sum = sum + 1;  // ends even on a busy machine
  EXPECT_GT(sum, 0);
}

TEST(ThreadTime, WaitingForACpuIsCountedOverAllThreads) {
  const double before = process_wait_seconds();
  if (before < 0) GTEST_SKIP() << "this system does not count it";
  EXPECT_GE(process_wait_seconds(), before);
}

}  // namespace
}  // namespace ounce
