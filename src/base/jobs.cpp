#include "base/jobs.h"

#include <vector>

namespace ounce {
namespace {
constexpr std::uint64_t kShareFrom = std::uint64_t{4} << 20;
}

void run_jobs(ThreadPool& pool, std::size_t jobs, const std::function<std::uint64_t(std::size_t)>& bytes,
              const std::function<void(std::size_t, const ForEach&)>& run) {
  const ForEach on_all_threads = [&](std::size_t steps, const std::function<void(std::size_t)>& step) {
    pool.for_each(steps, step);
  };
  const ForEach on_this_thread = [](std::size_t steps, const std::function<void(std::size_t)>& step) {
    for (std::size_t i = 0; i < steps; ++i) step(i);
  };
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < jobs; ++i) {
    if (bytes(i) < kShareFrom) {
      small.push_back(i);
    } else {
      run(i, on_all_threads);
    }
  }
  pool.for_each(small.size(), [&](std::size_t i) { run(small[i], on_this_thread); });
}

}  // namespace ounce
