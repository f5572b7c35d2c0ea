// Writes JSON, and reads untrusted JSON. All JSON input goes through here.
//
//   const auto document = parse_json<nlohmann::ordered_json>(text, {.bytes = 1 << 20});
//
// Deep nesting overflows the stack of recursive code, and a parsed document takes many times the memory of
// its text, so both have limits, which are checked before parsing. Objects that keep their order
// (ordered_json) compare each new name with all previous ones, so the number of names is limited, too.
#pragma once

#include <nlohmann/json.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace ounce {

struct JsonLimits {
  std::size_t depth = 16;
  std::size_t bytes = std::size_t{16} << 20;
};

// The functions are defined for nlohmann::json and nlohmann::ordered_json in one file, because every file
// with a parser or a serializer of its own takes seconds more to compile.

// Throws Error{kBadInput} with the reason.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const JsonLimits& limits = {}, const std::string& where = {});

// Returns null if the text is not JSON, or exceeds the limits.
template <class Json = nlohmann::json>
Json parse_json_or_nothing(std::string_view text, const JsonLimits& limits = {});

// Writes JSON: on one line, or indented. Replaces bytes that are not UTF-8.
template <class Json>
std::string json_text(const Json& json, int indent = -1);

}  // namespace ounce
