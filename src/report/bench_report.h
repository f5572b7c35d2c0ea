// The results of bench as text: times of calls, and of texts token by token.
#pragma once

#include <ounce/bench.h>
#include <ounce/decode.h>

#include <string>

namespace ounce::report {

std::string bench_text(const BenchReport& report);

std::string decode_text(const DecodeReport& report);

}  // namespace ounce::report
