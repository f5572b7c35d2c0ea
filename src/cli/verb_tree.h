// The command line as a value: the program, its verbs, and what each takes. Completions and man pages are
// written from it.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "verbs/verb.h"

namespace ounce::cli {

// Those of the library, and those that only the program has.
std::span<const verbs::VerbInfo* const> program_verbs();

struct VerbOption {
  std::vector<std::string> names;   // "-o", "--output"; of a positional the one word "model"
  std::string text;                 // what --help says
  std::string group;                // the heading it stands under
  std::string value;                // "TEXT", "FLOAT"; empty: takes none
  std::vector<std::string> values;  // the words it takes, when it takes no others
  std::string by_default;
  bool is_positional = false;
  bool is_required = false;
  bool is_repeatable = false;

  bool takes_number() const;
};

struct Verb {
  std::vector<std::string> path;  // {"ounce", "contract", "set"}
  std::string text;
  const verbs::VerbInfo* row = nullptr;  // null: the program
  std::vector<VerbOption> options;
  std::vector<Verb> verbs;

  std::string words(const char* between = " ") const;  // "ounce contract set"
};

Verb verb_tree();

// The program and every verb, each before its own.
std::vector<const Verb*> all_verbs(const Verb& program);

// Adds to text that is written piece by piece.
template <class... Values>
void append(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
}

}  // namespace ounce::cli
