// `ounce man VERB`: the program's manual, page by page.
#pragma once

#include <CLI/CLI.hpp>

#include "verbs/command.h"

namespace ounce::cli {

verbs::Command add_man(CLI::App& parser);

}  // namespace ounce::cli
