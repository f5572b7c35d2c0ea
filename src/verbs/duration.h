// How long something may take, on the command line: "90s", "10m", "1.5h", or a bare number of seconds; and
// where that is said, "40 models".
#pragma once

#include <ounce/tune.h>

#include <string>

namespace ounce::verbs {

// Seconds. Throws Error{kUsage} that names the option.
double duration_of(const std::string& text, const char* option);

// A time or a number of models. Throws Error{kUsage} that names the option.
Budget budget_of(const std::string& text, const char* option);

}  // namespace ounce::verbs
