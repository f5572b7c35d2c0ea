// Splits lines of the data files in this folder.
#pragma once

#include <string_view>
#include <vector>

namespace ounce::target {

// Splits a text at the separators. Drops empty parts.
inline std::vector<std::string_view> words_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    if (const std::string_view part = text.substr(0, at); !part.empty()) parts.push_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

}  // namespace ounce::target
