// One line for a command line that does not parse, with a guess at what was meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::verbs {

// What may have been meant: a typing error, or the end of a longer name (--output of --label-output). Empty
// for no idea.
std::string guess_of(std::string_view word, const std::vector<std::string>& known);

std::string explain(const CLI::ParseError& error, const CLI::App& parser, int argc, char** argv);

}  // namespace ounce::verbs
