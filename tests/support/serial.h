// For tests: work done step by step, by one thread.
#pragma once

#include "base/thread_pool.h"

namespace ounce::test {

inline const ForEach kSerial = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = 0; i < steps; ++i) run(i);
};

}  // namespace ounce::test
