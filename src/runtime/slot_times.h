// The times of several runs in a row, a "slot": wall time of each run, and CPU time of all of them.
//
//   const SlotTimes times = time_slot(20, is_single_threaded, [&] { bound.run(); });
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/stopwatch.h"
#include "base/thread_time.h"

namespace ounce::runtime {

struct SlotTimes {
  std::vector<double> calls;  // wall seconds of each run
  double cpu_seconds = 0;     // of all runs; 0: unknown, or the runs use several threads
  double wait_seconds = -1;   // that the threads of the process were ready to run and had no CPU; -1: unknown

  double wall_seconds() const { return std::accumulate(calls.begin(), calls.end(), 0.0); }
};

// CPU time is latency only for a run that stays on the calling thread.
template <class Run>
SlotTimes time_slot(std::uint64_t runs, bool is_single_threaded, const Run& run) {
  SlotTimes times;
  times.calls.reserve(runs);
  const double cpu = thread_cpu_seconds();
  const double wait = is_single_threaded ? -1 : process_wait_seconds();
  for (; runs > 0; --runs) {
    const Stopwatch time;
    run();
    times.calls.push_back(time.seconds());
  }
  if (is_single_threaded) times.cpu_seconds = thread_cpu_seconds() - cpu;
  // A thread that ended in between takes its share with it, so the difference can be negative.
  if (wait >= 0) times.wait_seconds = std::max(0.0, process_wait_seconds() - wait);
  return times;
}

}  // namespace ounce::runtime
