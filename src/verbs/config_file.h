// --config FILE: options from a TOML file, with a section for each verb and keys named like the long options.
//
//   [quantize]
//   to = "w8"
//   exclude = ["head", "^embed"]
//   [contract.set]
//   layout = "nchw"
//
//   add_config_option(parser);        // CLI11 then asks for what the command line left open
//
// Whoever writes such a file by hand makes mistakes: all of it is checked before any of it counts, the
// sections of other verbs too, and what is wrong is told with its line and column.
#pragma once

#include <CLI/CLI.hpp>

namespace ounce::verbs {

void add_config_option(CLI::App& parser);

}  // namespace ounce::verbs
