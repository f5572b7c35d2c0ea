#include "cli/verb_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ounce::cli {
namespace {

// CLI11 says the words in braces behind the type: "TEXT:{auto,always,never}".
std::vector<std::string> words_in_braces(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

VerbOption describe(const CLI::Option& option) {
  VerbOption described;
  described.is_positional = option.get_positional();
  if (described.is_positional) described.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  described.text = option.get_description();
  described.group = option.get_group();
  if (option.get_items_expected_max() != 0) {
    const std::string type = option.get_type_name();
    described.value = type.substr(0, type.find(':'));
    if (described.value.empty()) described.value = "FILE";  // of --config
    described.values = words_in_braces(type);
  }
  described.by_default = option.get_default_str();
  described.is_required = option.get_required();
  described.is_repeatable = option.get_items_expected_max() > 1;
  return described;
}

Verb describe(const CLI::App& app, std::vector<std::string> path) {
  path.push_back(app.get_name());
  Verb verb{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) verb.options.push_back(describe(*option));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    verb.verbs.push_back(describe(*below, path));
  return verb;
}

void add_all(const Verb& verb, std::vector<const Verb*>& all) {
  all.push_back(&verb);
  for (const Verb& below : verb.verbs) add_all(below, all);
}

}  // namespace

bool VerbOption::takes_number() const { return value == "FLOAT" || value == "INT" || value == "UINT"; }

std::string Verb::words(const char* between) const { return fmt::format("{}", fmt::join(path, between)); }

Verb verb_tree(const CLI::App& parser) { return describe(parser, {}); }

std::vector<const Verb*> all_verbs(const Verb& program) {
  std::vector<const Verb*> all;
  add_all(program, all);
  return all;
}

}  // namespace ounce::cli
