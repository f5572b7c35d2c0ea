// Many pieces of work of very different sizes on a few threads: large ones one after another with all
// threads inside each, small ones side by side with one thread each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/thread_pool.h"

namespace ounce {

// Runs the steps 0 … n-1, perhaps on several threads.
using ForEach = std::function<void(std::size_t steps, const std::function<void(std::size_t)>& run)>;

// `bytes(i)` is how much job i reads; run(i, for_each) does it, with its inner loops through for_each.
void run_jobs(ThreadPool& pool, std::size_t jobs, const std::function<std::uint64_t(std::size_t)>& bytes,
              const std::function<void(std::size_t, const ForEach&)>& run);

}  // namespace ounce
