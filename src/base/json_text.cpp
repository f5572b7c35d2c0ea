#include "base/json_text.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace ounce {
namespace {

// Limit for comparisons of names in a whole text: about a second. One object may have 30,000 names.
constexpr std::uint64_t kMostComparisons = 450'000'000;

// Throws Error{kBadInput}.
void require_json_limits(std::string_view text, const JsonLimits& limits, const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::kBadInput, what, where); };
  if (text.size() > limits.bytes) refuse(fmt::format("is longer than {} MiB", limits.bytes >> 20U));
  std::size_t depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\0') refuse(fmt::format("is not JSON (byte {})", i + 1));  // the parser would stop there
    if (is_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_string = !is_string;
    } else if (!is_string && (c == '[' || c == '{')) {
      if (++depth > limits.depth) refuse(fmt::format("values are nested more than {} deep", limits.depth));
    } else if (!is_string && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

// Throws Error{kBadInput} if comparing all names of objects would take more than a second.
void require_few_names(std::string_view text, const std::string& where) {
  std::vector<std::uint64_t> names = {0};  // of each open object
  std::uint64_t comparisons = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_string = !is_string;
    } else if (is_string) {
      continue;
    } else if (c == '{') {
      names.push_back(0);
    } else if (c == '}' && names.size() > 1) {
      names.pop_back();
    } else if (c == ':') {
      comparisons += names.back()++;
      if (comparisons > kMostComparisons)
        throw Error(ErrorCode::kBadInput, "has objects with too many names", where);
    }
  }
}

}  // namespace

template <class Json>
Json parse_json(std::string_view text, const JsonLimits& limits, const std::string& where) {
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

template <class Json>
Json parse_json_or_nothing(std::string_view text, const JsonLimits& limits) {
  try {
    return parse_json<Json>(text, limits);
  } catch (const Error&) {
    return nullptr;
  }
}

template <class Json>
std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template nlohmann::json parse_json(std::string_view, const JsonLimits&, const std::string&);
template nlohmann::ordered_json parse_json(std::string_view, const JsonLimits&, const std::string&);
template nlohmann::json parse_json_or_nothing(std::string_view, const JsonLimits&);
template nlohmann::ordered_json parse_json_or_nothing(std::string_view, const JsonLimits&);
template std::string json_text(const nlohmann::json&, int);
template std::string json_text(const nlohmann::ordered_json&, int);

}  // namespace ounce
