// What a verb's short help shows: the options of every day, and examples to start from. --help-all has the
// rest.
#pragma once

#include <string_view>
#include <vector>

namespace ounce::verbs {

struct VerbHelp {
  std::string_view verb;                   // "contract set"
  std::vector<std::string_view> everyday;  // long names of options; empty: all of them
  std::vector<std::string_view> examples;  // command lines
};

const std::vector<VerbHelp>& verb_helps();
// Null for a verb that has none.
const VerbHelp* find_verb_help(std::string_view verb);

}  // namespace ounce::verbs
