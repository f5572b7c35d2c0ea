// The results of bench, for people and for programs.
#pragma once

#include <ounce/bench.h>

#include <string>

namespace ounce::report {

std::string bench_text(const BenchReport& report);

}  // namespace ounce::report
