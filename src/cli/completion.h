// Scripts that let a shell complete the verbs and options of the program, and the words and files that they
// take.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/verb_tree.h"
#include "verbs/command.h"

namespace ounce::cli {

std::string bash_completion(const Verb& program);
std::string zsh_completion(const Verb& program);
std::string fish_completion(const Verb& program);

// `ounce completion SHELL`: a script that completes the program's own command line.

verbs::Command add_completion(CLI::App& parser);

}  // namespace ounce::cli
