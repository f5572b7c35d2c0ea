// What this machine's CPU is called, and what it can do that changes results, not only speed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ounce {

// What the kernels of integer arithmetic are chosen by: "avx512 vnni", "avx2 vnni", "avx512", "avx2", "sse",
// "arm64".
std::string cpu_kernels();

// All that this CPU says it can do, as a short word without blanks: what was made for one CPU is for another
// one only if the words are equal.
std::string cpu_features();

// The CPU's model and how many of them there are, where the system tells.
std::string cpu_name();

// How much memory there is, and how much this process took.

// Resident bytes of this process, at most so far. Unlike getrusage() it does not remember the process that
// started this one.
std::uint64_t peak_memory();
// … counted from the call of forget_peak() on, where the system can.
void forget_peak();
// Resident now; 0 where the system does not tell.
std::uint64_t resident_memory();

// Bytes that the system could still give; the largest number there is when it does not say.
std::uint64_t available_memory();
// What is built in, and what may be swapped out; 0 when nobody knows.
std::uint64_t installed_memory();

// What a program does when it has to end because memory ran out. A std::bad_alloc is caught like any other
// exception; but there are functions of other libraries that promise not to throw and allocate all the same,
// and constructors that run while a library is opened. They end the process, and this is what it does then
// instead of aborting.

// `end` must not return, and not allocate. Aborts for other reasons stay what they are.
void when_memory_runs_out(void (*end)());

// How long something takes.

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
