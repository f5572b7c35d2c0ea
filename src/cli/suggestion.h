// One line for a command line that does not parse, with a guess at what was meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ounce::cli {

std::string explain(const CLI::ParseError& error, const CLI::App& parser, int argc, char** argv);

}  // namespace ounce::cli
