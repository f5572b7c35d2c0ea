// What others write, for a message of ours: on one line, without what a terminal would obey.
#pragma once

#include <string>
#include <string_view>

namespace ounce::runtime {

inline std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_gap = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!is_gap) line += c;
    if (is_gap && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace ounce::runtime
