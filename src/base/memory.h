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

}  // namespace ounce
