// The words that an option takes, from the table of the enum that they stand for (ounce/names.h).
//
//   app.add_option("--by", text)->check(any_name_of<Grouping>());
//   options.grouping = value_of<Grouping>(text);
#pragma once

#include <ounce/names.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace ounce::verbs {

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
