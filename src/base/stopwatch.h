// How long something takes.
#pragma once

#include <chrono>

namespace ounce {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// CPU time of a thread, and the time that threads waited for a CPU. Both tell whether a wall-clock time was
// disturbed by other programs.
//
//   const double before = thread_cpu_seconds();
//   work();
//   const double cpu = thread_cpu_seconds() - before;   // as long on a busy machine as on an idle one

// CPU seconds that the calling thread has used; 0 where the system does not tell.
double thread_cpu_seconds() noexcept;

// Seconds that the threads of this process were ready to run and had no CPU, in sum; -1 where the system
// does not tell.
double process_wait_seconds() noexcept;

}  // namespace ounce
