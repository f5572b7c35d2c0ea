// --help: what people need on most days, with examples. --help-all: every option there is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ounce::cli {

enum class HelpLength { kShort, kAll };

// Of the verb that was asked about, or of the program.
std::string help_text(CLI::App& parser, HelpLength length, std::size_t width);

}  // namespace ounce::cli
