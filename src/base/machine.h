// Properties of this machine: CPU name and features, memory, and clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ounce {

// The instruction set that selects integer kernels: "avx512 vnni", "avx2 vnni", "avx512", "avx2", "sse",
// "arm64".
std::string cpu_kernels();

// All features of this CPU, as a short word without spaces. Data made for one CPU is valid on another only if
// the words are equal.
std::string cpu_features();

// The CPU's model and the number of CPUs, if the system reports them.
std::string cpu_name();

// Peak resident bytes of this process. Unlike getrusage(), it does not include the process that started it.
std::uint64_t peak_memory();
// Restarts the measurement of the peak, if the system supports it.
void forget_peak();
// Current resident bytes; 0 if unknown.
std::uint64_t resident_memory();

// Bytes of memory still available; the largest number if unknown.
std::uint64_t available_memory();
// Main memory and swap space in bytes; 0 if unknown.
std::uint64_t installed_memory();

// Calls `end` instead of aborting when the program must end because memory ran out. A std::bad_alloc is
// normally caught like any other exception, but some functions of other libraries are noexcept and allocate,
// and so do constructors that run while a library is loaded. `end` must neither return nor allocate. Aborts
// for other reasons are not affected.
void when_memory_runs_out(void (*end)());

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// CPU seconds used by the calling thread; 0 if unknown. Unlike wall time, this does not depend on the load of
// the machine.
double thread_cpu_seconds() noexcept;

// The sum of the seconds that threads of this process waited for a CPU; -1 if unknown. Shows whether other
// programs disturbed a wall-clock measurement.
double process_wait_seconds() noexcept;

}  // namespace ounce
