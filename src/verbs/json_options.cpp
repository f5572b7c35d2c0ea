#include "verbs/json_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/text.h"
#include "verbs/option_kinds.h"
#include "verbs/suggestion.h"

namespace ounce::verbs {
namespace {

using nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kUsage, why); }

std::vector<std::string> words_of(const std::string& verb) {
  std::istringstream stream(verb);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// As it would stand on the command line.
std::string word_of(const std::string& key, const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number()) return value.dump();
  refuse(fmt::format("'{}' takes text or numbers, or a list of them", key));
}

std::vector<std::string> words_of(const std::string& key, const ordered_json& value) {
  std::vector<std::string> words;
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

}  // namespace

CLI::App& find_verb(CLI::App& parser, const std::string& verb) {
  CLI::App* found = &parser;
  for (const std::string& word : words_of(verb)) {
    const std::vector<std::string> verbs = names_of_verbs(*found);
    if (std::find(verbs.begin(), verbs.end(), word) == verbs.end()) {
      refuse(
          with_guess(fmt::format("'{}' is not a verb of {}", word, found->get_name()), nearest(word, verbs)));
    }
    found = found->get_subcommand(word);
  }
  if (found == &parser) refuse("say what to do: the verb is empty");
  return *found;
}

std::vector<std::string> arguments_of(CLI::App& parser, const std::string& verb,
                                      const ordered_json& options) {
  const CLI::App& app = find_verb(parser, verb);
  const std::vector<std::string> keys = names_of_options(app);
  std::vector<std::string> arguments = words_of(verb);
  std::map<std::string, std::vector<std::string>> positional;
  for (const auto& [given, value] : options.items()) {
    std::string key = given;
    std::replace(key.begin(), key.end(), '_', '-');
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      refuse(with_guess(fmt::format("{} has no option '{}'", verb, given), guess_of(key, keys)));
    if (value.is_null()) continue;
    const CLI::Option& option = *find_option(app, key);
    if (is_flag(option)) {
      if (!value.is_boolean()) refuse(fmt::format("'{}' is either true or false", given));
      arguments.push_back(fmt::format("--{}={}", key, value.get<bool>()));
    } else if (value.is_boolean()) {
      refuse(fmt::format("'{}' takes a value, not true or false", given));
    } else if (is_joined_list(option) && value.is_array()) {
      arguments.push_back(fmt::format("--{}={}", key, fmt::join(words_of(given, value), ",")));
    } else if (!is_list(option) && (value.is_array() || value.is_object())) {
      refuse(fmt::format("'{}' takes one value", given));
    } else if (option.get_positional()) {
      positional[key] = words_of(given, value);
    } else {
      for (const std::string& word : words_of(given, value))
        arguments.push_back(fmt::format("--{}={}", key, word));
    }
  }
  arguments.emplace_back("--");
  for (const CLI::Option* option : app.get_options()) {  // in their order, whatever that of the JSON is
    if (!option->get_positional()) continue;
    for (const std::string& word : positional[option->get_name(true)]) arguments.push_back(word);
  }
  return arguments;
}

}  // namespace ounce::verbs
