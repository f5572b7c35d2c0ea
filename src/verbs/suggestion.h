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

// The message, and the guess if there is one.
std::string with_guess(const std::string& message, const std::string& guess);

// `words` are those behind the program's name.
std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words);

}  // namespace ounce::verbs
