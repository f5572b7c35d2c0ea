// `ounce completion SHELL`: a script that completes the program's own command line.
#pragma once

#include <CLI/CLI.hpp>

#include "verbs/command.h"

namespace ounce::cli {

verbs::Command add_completion(CLI::App& parser);

}  // namespace ounce::cli
