// A span of time on the command line: "90s", "10m", "1.5h", or a bare number of seconds.
#pragma once

#include <string>

namespace ounce::cli {

// Seconds. Throws Error{kUsage} that names the option.
double duration_of(const std::string& text, const char* option);

}  // namespace ounce::cli
