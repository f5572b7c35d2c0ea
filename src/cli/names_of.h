// The words that an option takes are the keys of the table that gives them their meaning.
//
//   app.add_option("--by", text)->check(names_of(kGroupings));
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ounce::cli {

template <class Map>
CLI::IsMember names_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return CLI::IsMember(names);
}

}  // namespace ounce::cli
