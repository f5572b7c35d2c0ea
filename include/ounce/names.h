// What can be chosen, and what results say, has one name: the same on the command line, in files and in JSON.
//
//   ounce::name_of(ounce::Format::kInt8);       // "static"
//   ounce::from_name<ounce::Format>("static");    // Format::kInt8; nothing for a word that is no name
//   ounce::names_of<ounce::Format>();             // all of them
//
// The names of an enum stand beside it, in its NamesOf.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ounce {

template <class Enum>
struct Named {
  Enum value;
  const char* name;
};

// Has `static constexpr Named<Enum> kAll[]`: every value, in the order of the enum.
template <class Enum>
struct NamesOf;

template <class Enum>
concept HasNames = requires {
  NamesOf<Enum>::kAll;
};

template <HasNames Enum>
constexpr const char* name_of(Enum value) {
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

template <HasNames Enum>
constexpr std::optional<Enum> from_name(std::string_view name) {
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

template <HasNames Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) names.emplace_back(entry.name);
  return names;
}

}  // namespace ounce
