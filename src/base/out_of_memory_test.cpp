#include "base/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <limits>
#include <new>

namespace ounce {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the process themselves

constexpr int kOurs = 7;

// More than any machine has, and not a constant that a compiler can evaluate.
void* allocate_too_much() {
  volatile std::size_t size = std::numeric_limits<std::ptrdiff_t>::max();
  return ::operator new(size);
}

void must_not_throw() noexcept { ::operator delete(allocate_too_much()); }

void begin() {
  when_memory_runs_out([] { ::_exit(kOurs); });
}

TEST(OutOfMemoryDeathTest, WhatMustNotThrowEndsTheProgramAsItWishes) {
  EXPECT_EXIT((begin(), must_not_throw()), testing::ExitedWithCode(kOurs), "^$");
}

TEST(OutOfMemoryDeathTest, WhatIsCaughtIsAnExceptionAsBefore) {
  const auto run = [] {
    begin();
    try {
      ::operator delete(allocate_too_much());
    } catch (const std::bad_alloc&) {
      ::_exit(0);
    }
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "^$");
}

TEST(OutOfMemoryDeathTest, OtherAbortsStayWhatTheyAre) {
  EXPECT_EXIT((begin(), std::abort()), testing::KilledBySignal(SIGABRT), "^$");
}

#endif

}  // namespace
}  // namespace ounce
