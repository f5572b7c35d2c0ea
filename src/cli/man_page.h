// The manual of the program and of each verb, as man(1) reads it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/verb_tree.h"
#include "verbs/command.h"

namespace ounce::cli {

// `verb` is `program` itself or one of its verbs; `version` stands at the foot of the page.
std::string man_page(const Verb& verb, const Verb& program, const std::string& version);

// `ounce man VERB`: the program's manual, page by page.

verbs::Command add_man(CLI::App& parser);

}  // namespace ounce::cli
