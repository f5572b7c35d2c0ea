// What this machine's CPU is called, and what it can do that changes results, not only speed.
#pragma once

#include <string>

namespace ounce {

// What the kernels of integer arithmetic are chosen by: "avx512 vnni", "avx2 vnni", "avx512", "avx2", "sse",
// "arm64".
std::string cpu_kernels();

// The CPU's model and how many of them there are, where the system tells.
std::string cpu_name();

}  // namespace ounce
