// Results on other CPUs as text and JSON; several verbs have them.
#pragma once

#include <ounce/cpus.h>

#include <string>
#include <vector>

namespace ounce::report {

// "avx2: equal to the bit on 8 samples (shown by this CPU)"; a line each.
std::vector<std::string> cpu_lines(const std::vector<CpuComparison>& cpus);

}  // namespace ounce::report
