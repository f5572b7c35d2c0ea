// What this machine's CPU can do that changes results, not only speed.
#pragma once

#include <string>

namespace ounce {

// Are sums of products of 8-bit numbers exact? On x86 CPUs without VNNI two products of an unsigned and a
// signed byte are added in 16 bits, where they saturate; everywhere else they are exact.
bool has_exact_byte_products() noexcept;

// The CPU's model and how many of them there are, where the system tells.
std::string cpu_name();

}  // namespace ounce
