// The results of bench, for people and for programs.
#pragma once

#include <ounce/bench.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ounce::report {

std::string bench_text(const BenchReport& report);
nlohmann::ordered_json bench_json(const BenchReport& report);

}  // namespace ounce::report
