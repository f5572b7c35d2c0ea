// --config FILE: options from a TOML file, with a section for each verb and keys named like the long options.
//
//   [quantize]
//   to = "w8"
//   exclude = ["head", "^embed"]
//   [contract.set]
//   layout = "nchw"
//
//   add_config_option(parser, verbs);        // CLI11 then asks for what the command line left open
//
// Whoever writes such a file by hand makes mistakes: all of it is checked before any of it counts, the
// sections of other verbs too, and what is wrong is told with its line and column.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "verbs/verb.h"

namespace ounce::cli {

void add_config_option(CLI::App& parser, std::span<const verbs::VerbInfo* const> verbs);

}  // namespace ounce::cli
