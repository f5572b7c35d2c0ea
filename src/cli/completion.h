// Scripts that let a shell complete the verbs and options of the program, and the words and files that they
// take.
#pragma once

#include <string>

#include "cli/verb_tree.h"

namespace ounce::cli {

std::string bash_completion(const Verb& program);
std::string zsh_completion(const Verb& program);
std::string fish_completion(const Verb& program);

}  // namespace ounce::cli
