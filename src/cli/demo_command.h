// `ounce demo`: all verbs on the model that the program carries with it.
#pragma once

#include <CLI/CLI.hpp>

#include "verbs/command.h"

namespace ounce::cli {

verbs::Command add_demo(CLI::App& parser);

}  // namespace ounce::cli
