// --help: what people need on most days, with examples. --help-all: every option there is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ounce::cli {

enum class HelpLength { kShort, kAll };

// The verb that was asked about with --help, or the program.
CLI::App& asked_about(CLI::App& parser);

// Of a verb, or of the program.
std::string help_text(CLI::App& app, HelpLength length, std::size_t width);

}  // namespace ounce::cli
