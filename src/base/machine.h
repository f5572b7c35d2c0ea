// This machine: the CPU's name and the features that change results, memory, and clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ounce {

// The instruction set by which integer kernels are chosen: "avx512 vnni", "avx2 vnni", "avx512", "avx2",
// "sse", "arm64".
std::string cpu_kernels();

// All features of this CPU, as a short word without blanks: data made for one CPU suits another one only if
// the words are equal.
std::string cpu_features();

// The CPU's model and how many of them there are, where the system tells.
std::string cpu_name();

// Resident bytes of this process, at most so far. Unlike getrusage() it does not remember the process that
// started this one.
std::uint64_t peak_memory();
// … counted from the call of forget_peak() on, where the system can.
void forget_peak();
// Resident now; 0 where the system does not tell.
std::uint64_t resident_memory();

// Bytes that the system could still give; the largest number if it does not tell.
std::uint64_t available_memory();
// Main memory and swap space; 0 where the system does not tell.
std::uint64_t installed_memory();

// Calls `end` instead of aborting when the program has to end because memory ran out. A std::bad_alloc is
// caught like any other exception, but some functions of other libraries are noexcept and allocate, and so do
// constructors that run while a library is opened. `end` must neither return nor allocate. Aborts for other
// reasons do not change.
void when_memory_runs_out(void (*end)());

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// CPU seconds that the calling thread has used; 0 where the system does not tell. They are the same on a busy
// machine as on an idle one.
double thread_cpu_seconds() noexcept;

// Seconds that the threads of this process were ready to run and had no CPU, in sum; -1 where the system does
// not tell. They tell whether other programs disturbed a wall-clock time.
double process_wait_seconds() noexcept;

}  // namespace ounce
