#include "verbs/json_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "base/json_text.h"

namespace ounce::verbs {
namespace {

using nlohmann::ordered_json;
using Words = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kUsage, why); }

std::string word_of(const std::string& key, const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number()) return json_text(value);
  refuse(fmt::format("'{}' takes text or numbers, or a list of them", key));
}

// The value of a pair, such as one of --expert, may be a flag.
std::string setting_of(const std::string& key, const ordered_json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  return word_of(key, value);
}

Words words_of(const std::string& key, const ordered_json& value) {
  Words words;
  if (value.is_array()) {
    for (const ordered_json& element : value) words.push_back(word_of(key, element));
  } else if (value.is_object()) {
    for (const auto& [name, element] : value.items()) {
      words.push_back(fmt::format("{}={}", name, setting_of(key, element)));
    }
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

// `name` is one of the names of the option, with dashes; `key` is that name as it was given.
Words given_words(const Option& option, const std::string& name, const std::string& key,
                  const ordered_json& value) {
  if (option.is_flag) {
    if (!value.is_boolean()) refuse(fmt::format("'{}' must be true or false", key));
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
    refuse(fmt::format("{}: cannot convert {} = {}", options.verb(), key_of(option),
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
  // Positional arguments keep their declared order, independent of the order in the JSON.
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
  if (option.is_expert) json["expert"] = true;
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
