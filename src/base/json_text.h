// Reads untrusted JSON. All JSON input goes through here.
//
//   const auto document = parse_json<nlohmann::ordered_json>(text, {.bytes = 1 << 20});
//
// Deep nesting overflows the stack of recursive code, and a parsed document takes many times the memory of
// its text, so both have limits, which are checked before parsing. Objects that keep their order
// (ordered_json) compare each new name with all previous ones, so the number of names is limited, too.
#pragma once

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace ounce {

struct JsonLimits {
  std::size_t depth = 16;
  std::size_t bytes = std::size_t{16} << 20;
};

// Throws Error{kBadInput}.
void require_json_limits(std::string_view text, const JsonLimits& limits, const std::string& where);
// Throws Error{kBadInput} if objects have too many names to compare all of them in a short time.
void require_few_names(std::string_view text, const std::string& where);

// Throws Error{kBadInput} with the reason.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const JsonLimits& limits = {}, const std::string& where = {}) {
  require_json_limits(text, limits, where);
  if constexpr (std::is_same_v<Json, nlohmann::ordered_json>) require_few_names(text, where);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("is not JSON (byte {})", error.byte), where);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kBadInput, "has a number that is out of range", where);
  }
}

// Returns null if the text is not JSON, or exceeds the limits.
template <class Json = nlohmann::json>
Json parse_json_or_nothing(std::string_view text, const JsonLimits& limits = {}) {
  try {
    return parse_json<Json>(text, limits);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace ounce
