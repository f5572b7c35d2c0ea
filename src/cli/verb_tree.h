// The command line as data: the program, its verbs, and their options. Completions and manual pages are
// generated from it.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "verbs/verb.h"

namespace ounce::cli {

// The verbs of the library, and the additional ones of the program.
std::span<const verbs::VerbInfo* const> program_verbs();

struct VerbOption {
  std::vector<std::string> names;   // "-o", "--output"; only "model" for a positional argument
  std::string text;                 // the help
  std::string group;                // the heading in the help
  std::string value;                // "TEXT", "FLOAT"; empty: takes no value
  std::vector<std::string> values;  // the only valid words; empty: any
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

// The program and every verb, parents before children.
std::vector<const Verb*> all_verbs(const Verb& program);

// Appends formatted text.
template <class... Values>
void append(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
}

}  // namespace ounce::cli
