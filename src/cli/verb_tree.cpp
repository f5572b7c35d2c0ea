#include "cli/verb_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/parser.h"

namespace ounce::cli {

using verbs::VerbInfo;

extern const VerbInfo kDemo, kCompletion, kMan, kMeasure;

std::span<const VerbInfo* const> program_verbs() {
  static const std::vector<const VerbInfo*> kAll = [] {
    std::vector<const VerbInfo*> all(verbs::all_verbs().begin(), verbs::all_verbs().end());
    all.insert(all.end(), {&kDemo, &kCompletion, &kMan, &kMeasure});
    return all;
  }();
  return kAll;
}

namespace {

VerbOption global_option(std::vector<std::string> names, const char* text, const char* value = "") {
  VerbOption option;
  option.names = std::move(names);
  option.text = text;
  option.group = "Options";
  option.value = value;
  return option;
}

void add_help_options(std::vector<VerbOption>& options) {
  options.push_back(global_option({"-h", "--help"}, kHelp));
  options.push_back(global_option({"--help-all"}, kHelpAll));
}

VerbOption describe(const verbs::Option& option) {
  VerbOption described;
  described.is_positional = !option.argument.empty();
  if (described.is_positional) described.names.push_back(option.argument);
  for (const std::string& name : option.short_names) described.names.push_back("-" + name);
  for (const std::string& name : option.long_names) described.names.push_back("--" + name);
  described.text = option.help;
  described.group = option.heading;
  described.value = option.type;
  described.values = option.choices();
  described.by_default = option.by_default;
  described.is_required = option.is_required;
  described.is_repeatable = option.is_list;
  return described;
}

Verb describe(const VerbInfo& row, std::vector<std::string> path) {
  path.emplace_back(row.name);
  Verb verb{path, row.summary, &row, {}, {}};
  add_help_options(verb.options);
  if (row.call != nullptr) {
    const std::unique_ptr<verbs::VerbCall> call = row.call(row.name);
    for (const verbs::Option& option : call->options.all()) {
      if (!option.is_expert) verb.options.push_back(describe(option));
    }
  }
  for (const VerbInfo* inside : row.verbs) verb.verbs.push_back(describe(*inside, path));
  return verb;
}

void add_all(const Verb& verb, std::vector<const Verb*>& all) {
  all.push_back(&verb);
  for (const Verb& below : verb.verbs) add_all(below, all);
}

}  // namespace

bool VerbOption::takes_number() const { return value == "FLOAT" || value == "INT" || value == "UINT"; }

std::string Verb::words(const char* between) const { return fmt::format("{}", fmt::join(path, between)); }

Verb verb_tree() {
  Verb program{{"ounce"}, kProgram, nullptr, {}, {}};
  program.options.push_back(global_option({"--version"}, kVersion));
  program.options.push_back(global_option({"--config"}, kConfig, "FILE"));
  program.options.push_back(global_option({"-q", "--quiet"}, kQuiet));
  add_help_options(program.options);
  for (const VerbInfo* verb : program_verbs()) program.verbs.push_back(describe(*verb, program.path));
  return program;
}

std::vector<const Verb*> all_verbs(const Verb& program) {
  std::vector<const Verb*> all;
  add_all(program, all);
  return all;
}

}  // namespace ounce::cli
