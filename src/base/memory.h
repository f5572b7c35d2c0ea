// How much memory there is, and how much this process took.
#pragma once

#include <cstdint>

namespace ounce {

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

}  // namespace ounce
