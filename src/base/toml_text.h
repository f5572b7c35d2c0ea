// Reads untrusted TOML. All TOML input goes through here.
//
//   try { const toml::table document = parse_toml(text, {.bytes = 1 << 20}); }
//   catch (const TomlError& error) { … error.line, error.column, error.what() … }
//
// The parser needs stack for every table that a dotted key opens, and many times the memory of the text, so
// both have limits, which are checked before parsing.
#pragma once

// Compiled once, in toml_text.cpp, because the header is one of the largest.
#define TOML_HEADER_ONLY 0
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ounce {

struct TomlLimits {
  std::size_t depth = 64;  // of brackets, and of dotted keys
  std::size_t bytes = std::size_t{1} << 20;
};

// A one-line message; line and column are 0 if it concerns the whole text.
class TomlError : public std::runtime_error {
 public:
  TomlError(std::string_view why, std::size_t line = 0, std::size_t column = 0);
  std::size_t line, column;
};

toml::table parse_toml(std::string_view text, const TomlLimits& limits = {});

}  // namespace ounce
