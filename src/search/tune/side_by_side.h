// How many sessions of a model the memory and the CPUs let run at the same time.
#pragma once

#include <ounce/runtime.h>

#include <cstdint>

namespace ounce::search {

// Models of so many bytes that half of the free memory holds, decoded; at least 1.
std::uint64_t sessions_in_memory(std::uint64_t model_bytes);

// Each with the threads of `runtime`, on `cpus` CPUs (0: all).
unsigned side_by_side(std::uint64_t model_bytes, const RuntimeOptions& runtime, unsigned cpus);

}  // namespace ounce::search
