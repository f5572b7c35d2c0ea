// One line for a command line that does not parse, with a guess at what was meant.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ounce::cli {

// `words` are those behind the program's name.
std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words);

}  // namespace ounce::cli
