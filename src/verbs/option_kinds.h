// What an option of the parser is, for those who do not read a command line: a file of options, JSON, a
// description for other languages.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ounce/names.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace ounce::verbs {

std::vector<std::string> names_of_verbs(const CLI::App& app);
// Long names without their dashes, and those of arguments; not --help and --config.
std::vector<std::string> names_of_options(const CLI::App& verb);
// By such a name; null when there is none.
const CLI::Option* find_option(const CLI::App& verb, const std::string& name);

bool is_flag(const CLI::Option& option);  // takes no value
bool is_list(const CLI::Option& option);  // may be given several times
// Takes several values in one word, with commas: its type is called as_joined_list("NUMBER").
bool is_joined_list(const CLI::Option& option);
std::string as_joined_list(const std::string& type);

// {"verb", "help", "options": [{"name", "kind", …}]}: see docs/c-api.md.
nlohmann::ordered_json describe(const CLI::App& verb, const std::string& name);

// The words that an option takes, from the table of the enum that they stand for (ounce/names.h).
//
//   app.add_option("--by", text)->check(any_name_of<Grouping>());
//   options.grouping = value_of<Grouping>(text);

// In the order of the enum.
template <class Enum>
CLI::IsMember any_name_of() {
  return CLI::IsMember(names_of<Enum>());
}

// By the alphabet.
template <class Enum>
CLI::IsMember any_sorted_name_of() {
  std::vector<std::string> names = names_of<Enum>();
  std::sort(names.begin(), names.end());
  return CLI::IsMember(names);
}

// Of these values only.
template <class Enum>
CLI::IsMember any_name_of(std::initializer_list<Enum> values) {
  std::vector<std::string> names;
  for (const Enum value : values) names.emplace_back(name_of(value));
  return CLI::IsMember(names);
}

// Of a name that was checked so.
template <class Enum>
Enum value_of(const std::string& name) {
  return from_name<Enum>(name).value();
}

}  // namespace ounce::verbs
