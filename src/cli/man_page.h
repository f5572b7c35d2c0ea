// The manual of the program and of each verb, as man(1) reads it.
#pragma once

#include <string>

#include "cli/verb_tree.h"

namespace ounce::cli {

// `verb` is `program` itself or one of its verbs; `version` stands at the foot of the page.
std::string man_page(const Verb& verb, const Verb& program, const std::string& version);

}  // namespace ounce::cli
