// What this machine's CPU is called, and what it can do that changes results, not only speed.
#pragma once

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

}  // namespace ounce
