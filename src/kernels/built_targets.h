// The instruction sets that the kernels were compiled for, best first: "AVX3", "AVX2", "SSE4" … The CPU
// decides which of them runs.
#pragma once

#include <string>
#include <vector>

namespace ounce::kernels {

std::vector<std::string> built_targets();

}  // namespace ounce::kernels
