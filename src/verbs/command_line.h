// The command line that a verb was called with, as people paste it into a shell: however it was called, and
// with the options of a configuration file in their places.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ounce::verbs {

// Without --json, which changes nothing but what is printed.
std::string command_line(const CLI::App& verb);

}  // namespace ounce::verbs
