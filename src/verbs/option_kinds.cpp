#include "verbs/option_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ounce::verbs {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  if (!option.get_configurable()) return names;
  names = option.get_lnames();
  if (option.get_positional()) names.push_back(option.get_name(true));
  return names;
}

const char* kind_of(const CLI::Option& option) {
  if (is_flag(option)) return "flag";
  const std::string type = option.get_type_name();
  if (type.starts_with("FLOAT")) return "number";
  return type.starts_with("UINT") || type.starts_with("INT") ? "integer" : "text";
}

// CLI11 tells them in the name of the type: "TEXT:{w4,w8}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find(":{"), close = type.find('}', open);
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::istringstream words(type.substr(open + 2, close - open - 2));
  for (std::string word; std::getline(words, word, ',');) choices.push_back(word);
  return choices;
}

ordered_json described(const CLI::Option& option, const std::string& name) {
  ordered_json json;
  json["name"] = name;
  json["kind"] = kind_of(option);
  json["list"] = is_list(option);
  if (is_joined_list(option)) json["joined"] = true;
  json["argument"] = option.get_positional();
  json["required"] = option.get_required();
  if (const std::vector<std::string> choices = choices_of(option); !choices.empty())
    json["choices"] = choices;
  if (const std::string usual = option.get_default_str(); !usual.empty() && !is_flag(option))
    json["default"] = usual;
  json["help"] = option.get_description();
  json["group"] = option.get_group();
  return json;
}

}  // namespace

std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& verb) {
  std::vector<std::string> all;
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string> names = names_of(*option);
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

const CLI::Option* find_option(const CLI::App& verb, const std::string& name) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string> names = names_of(*option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

bool is_flag(const CLI::Option& option) { return option.get_expected_min() == 0; }
bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

namespace {
constexpr std::string_view kAndSoOn = ",...";
}  // namespace

bool is_joined_list(const CLI::Option& option) { return option.get_type_name().ends_with(kAndSoOn); }
std::string as_joined_list(const std::string& type) { return type + std::string(kAndSoOn); }

ordered_json describe(const CLI::App& verb, const std::string& name) {
  ordered_json json;
  json["verb"] = name;
  json["help"] = verb.get_description();
  json["verbs"] = names_of_verbs(verb);
  json["options"] = ordered_json::array();
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string> names = names_of(*option);
    if (!names.empty()) json["options"].push_back(described(*option, names.front()));
  }
  return json;
}

}  // namespace ounce::verbs
