#include "verbs/json_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

namespace ounce::verbs {
namespace {

[[noreturn]] void refuse(const char* option, const std::string& text, const char* wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("`{}` '{}' must be {}", option, text, wanted));
}

double number_of(std::string_view text, const char* option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse(option, std::string(text), "a number");
  return value;
}

}  // namespace

double fraction_of(const std::string& text, const char* option) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return number_of(text, option);
  const double below = number_of(std::string_view(text).substr(slash + 1), option);
  if (below == 0) refuse(option, text, "a number or a fraction such as 1/255");
  return number_of(std::string_view(text).substr(0, slash), option) / below;
}

double share_of(const std::string& text, const char* option, double largest_bare) {
  const bool is_percent = text.ends_with('%');
  const double value =
      number_of(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)), option);
  const double share = is_percent ? value / 100 : value;
  if (!is_percent && value > largest_bare) {
    throw Error(ErrorCode::kUsage,
                fmt::format("`{}` '{}' is {:.0f} %; did you mean '{}%'?", option, text, 100 * value, text));
  }
  if (share < 0 || share > 1) refuse(option, text, "from 0 to 100%");
  return share;
}

std::vector<double> numbers_of(const std::string& text, const char* option) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    numbers.push_back(fraction_of(text.substr(at, comma - at), option));
    at = comma + 1;
  }
  return numbers;
}

std::int64_t whole_of(std::string_view text, const char* option) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    refuse(option, std::string(text), "a whole number above 0");
  return value;
}

std::pair<std::uint64_t, std::uint64_t> part_of(const std::string& text, const char* option) {
  const char* const last = text.data() + text.size();
  std::uint64_t number = 0, count = 0;
  const auto [slash, failure] = std::from_chars(text.data(), last, number);
  const bool has_slash = failure == std::errc() && slash != last && *slash == '/';
  const auto [end, second_failure] = std::from_chars(has_slash ? slash + 1 : last, last, count);
  if (!has_slash || second_failure != std::errc() || end != last || number < 1 || number > count)
    refuse(option, text, "I/N with I from 1 to N");
  return {number - 1, count};
}

std::pair<std::string, std::string> split_pair(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) refuse(option, text, "NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

double duration_of(const std::string& text, const char* option) {
  constexpr double kMost = 30 * 86400.0;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = value * scale;
  if (failure != std::errc() || !(seconds > 0) || seconds > kMost)
    refuse(option, text, "a time such as 90s, 10m or 2h, up to 30 days");
  return seconds;
}

Budget budget_of(const std::string& text, const char* option) {
  constexpr std::uint64_t kMost = 1'000'000;
  const std::size_t word = text.find(" model");
  if (word == std::string::npos) return {duration_of(text, option), 0};
  Budget budget;
  const char* const last = text.data() + word;
  const auto [end, failure] = std::from_chars(text.data(), last, budget.models);
  const std::string_view unit = std::string_view(text).substr(word + 1);
  if (failure != std::errc() || end != last || budget.models == 0 || budget.models > kMost ||
      (unit != "models" && unit != "model"))
    refuse(option, text, "a time such as 10m, or a number of models such as '40 models'");
  return budget;
}

namespace {

using nlohmann::ordered_json;
using Words = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kUsage, why); }

std::string word_of(const std::string& key, const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number()) return value.dump();
  refuse(fmt::format("'{}' takes text or numbers, or a list of them", key));
}

Words words_of(const std::string& key, const ordered_json& value) {
  Words words;
  if (value.is_array()) {
    for (const ordered_json& element : value) words.push_back(word_of(key, element));
  } else if (value.is_object()) {
    for (const auto& [name, element] : value.items())
      words.push_back(fmt::format("{}={}", name, word_of(key, element)));
  } else {
    words.push_back(word_of(key, value));
  }
  return words;
}

Words split(const Words& words, char separator) {
  Words parts;
  for (const std::string& word : words) {
    std::istringstream text(word);
    for (std::string part; std::getline(text, part, separator);) parts.push_back(part);
  }
  return parts;
}

// `name` is one of the option's, `key` that name as it was given.
Words given_words(const Option& option, const std::string& name, const std::string& key,
                  const ordered_json& value) {
  if (option.is_flag) {
    if (!value.is_boolean()) refuse(fmt::format("'{}' is either true or false", key));
    const bool turns_off =
        std::find(option.off_names.begin(), option.off_names.end(), name) != option.off_names.end();
    return {value.get<bool>() != turns_off ? "true" : "false"};
  }
  if (value.is_boolean()) refuse(fmt::format("'{}' takes a value, not true or false", key));
  if (option.is_joined && value.is_array()) return {fmt::format("{}", fmt::join(words_of(key, value), ","))};
  if (!option.is_list && (value.is_array() || value.is_object()))
    refuse(fmt::format("'{}' takes one value", key));
  const Words words = words_of(key, value);
  return option.separator == 0 ? words : split(words, option.separator);
}

std::string key_of(const Option& option) {
  std::string key = option.names().front();
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

void set(const Options& options, const Option& option) {
  if (option.given.empty()) return;
  for (const std::string& word : option.given) {
    const std::string problem = option.must_be ? option.must_be->problem(word) : "";
    if (!problem.empty()) refuse(fmt::format("{}: {}: {}", options.verb(), key_of(option), problem));
  }
  if (!option.read(option.given))
    refuse(fmt::format("{}: Could not convert: {} = {}", options.verb(), key_of(option),
                       fmt::join(option.given, ",")));
}

void require_complete(const Options& options, const Option& option) {
  if (option.given.empty()) {
    if (option.is_required) refuse(fmt::format("{}: {} is required", options.verb(), key_of(option)));
    return;
  }
  for (const Option* other : option.needed) {
    if (other->given.empty())
      refuse(fmt::format("{}: {} requires {}", options.verb(), key_of(option), key_of(*other)));
  }
  for (const Option* other : option.excluded) {
    if (!other->given.empty())
      refuse(fmt::format("{}: {} excludes {}", options.verb(), key_of(option), key_of(*other)));
  }
}

}  // namespace

void read_json(Options& options, const ordered_json& json) {
  for (const auto& [key, value] : json.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    Option* option = options.find(name);
    if (option == nullptr || name.starts_with('-')) {
      Words names;
      for (const Option& known : options.all()) {
        for (const std::string& one : known.names()) names.push_back(one);
      }
      refuse(with_guess(fmt::format("{} has no option '{}'", options.verb(), key), guess_of(name, names)));
    }
    if (value.is_null()) continue;
    option->given = given_words(*option, name, key, value);
    if (!option->argument.empty()) continue;
    for (const std::string& word : option->given) options.in_order.push_back({option, word});
  }
  // Arguments come in their own order, whatever that of the JSON is.
  for (const Option& option : options.all()) {
    for (const std::string& word : option.given) {
      if (!option.argument.empty()) options.in_order.push_back({&option, word});
    }
  }
  for (const Option& option : options.all()) set(options, option);
  for (const Option& option : options.all()) require_complete(options, option);
}

namespace {

const char* kind_of(const Option& option) {
  if (option.is_flag) return "flag";
  if (option.type == "FLOAT") return "number";
  return option.type == "UINT" || option.type == "INT" ? "integer" : "text";
}

ordered_json described(const Option& option) {
  ordered_json json;
  json["name"] = option.names().front();
  json["kind"] = kind_of(option);
  json["list"] = option.is_list;
  if (option.is_joined) json["joined"] = true;
  json["argument"] = !option.argument.empty();
  json["required"] = option.is_required;
  if (!option.choices().empty()) json["choices"] = option.choices();
  if (!option.by_default.empty() && !option.is_flag) json["default"] = option.by_default;
  json["help"] = option.help;
  json["group"] = option.heading;
  return json;
}

}  // namespace

ordered_json describe(const VerbInfo& verb, const std::string& name) {
  ordered_json json;
  json["verb"] = name;
  json["help"] = verb.summary;
  json["result"] = verb.result;
  json["verbs"] = ordered_json::array();
  for (const VerbInfo* inside : verb.verbs) json["verbs"].push_back(inside->name);
  json["options"] = ordered_json::array();
  if (verb.call == nullptr) return json;
  const std::unique_ptr<VerbCall> call = verb.call(name);
  for (const Option& option : call->options.all()) json["options"].push_back(described(option));
  return json;
}

}  // namespace ounce::verbs
