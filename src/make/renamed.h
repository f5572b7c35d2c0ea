// What the runtime says of a file of ours, with the name that the user gave the model: a copy, or a file that
// has no name yet, means nothing to anybody.
#pragma once

#include <filesystem>
#include <string>

namespace ounce::make {

inline std::string renamed(std::string text, const std::filesystem::path& ours,
                           const std::filesystem::path& theirs) {
  const std::string from = ours.string(), to = theirs.string();
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace ounce::make
