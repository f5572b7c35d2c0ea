// Names of enum values. They are the same on the command line, in files and in JSON.
//
//   ounce::name_of(ounce::Format::kInt8);        // "int8"
//   ounce::from_name<ounce::Format>("int8");     // Format::kInt8; nullopt for an unknown name
//   ounce::from_name<ounce::Format>("static");   // Format::kInt8, by an alias
//   ounce::names_of<ounce::Format>();            // all names, without aliases
//
// NamesOf<Enum> is defined next to the enum.
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

// Specialize it with `static constexpr Named<Enum> kAll[]`: every value in the order of the enum. An optional
// `kAliases` lists other names that are accepted, but never written.
template <class Enum>
struct NamesOf;

template <class Enum>
concept HasNames = requires {
  NamesOf<Enum>::kAll;
};

template <class Enum>
concept HasAliases = requires {
  NamesOf<Enum>::kAliases;
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
  if constexpr (HasAliases<Enum>) {
    for (const Named<Enum>& entry : NamesOf<Enum>::kAliases) {
      if (entry.name == name) return entry.value;
    }
  }
  return std::nullopt;
}

template <HasNames Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const Named<Enum>& entry : NamesOf<Enum>::kAll) names.emplace_back(entry.name);
  return names;
}

template <HasNames Enum>
std::vector<std::string> aliases_of() {
  std::vector<std::string> names;
  if constexpr (HasAliases<Enum>) {
    for (const Named<Enum>& entry : NamesOf<Enum>::kAliases) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace ounce
