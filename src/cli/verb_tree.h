// The command line as a value: the program, its verbs, and what each takes, read off the parser. Completions
// and man pages are written from it, so that they never say anything else than --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ounce::cli {

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
  std::string footer;
  std::vector<VerbOption> options;
  std::vector<Verb> verbs;

  std::string words(const char* between = " ") const;  // "ounce contract set"
};

Verb verb_tree(const CLI::App& parser);

// The program and every verb, each before its own.
std::vector<const Verb*> all_verbs(const Verb& program);

}  // namespace ounce::cli
