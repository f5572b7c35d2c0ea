#include "cli/parser.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "cli/config_file.h"

namespace ounce::cli {

using verbs::Option;
using verbs::VerbCall;
using verbs::VerbInfo;

Parser::Parser(std::span<const VerbInfo* const> verbs, std::function<std::string()> version)
    : verbs_(verbs), app_(kProgram, "ounce") {
  app_.set_version_flag("--version", std::move(version), kVersion);
  add_config_option(app_, verbs);
  app_.require_subcommand(1);
  app_.set_help_flag("-h,--help", kHelp);
  app_.set_help_all_flag("--help-all", kHelpAll);
  app_.footer(
      "Exit codes: 0 done, 1 gate failed, 2 bad usage or bad input, 3 not supported, 4 I/O, 70 a bug of "
      "ours.\n"
      "'ounce help VERB' explains a verb, 'ounce VERB --help-all' all of its options.\n"
      "New here? 'ounce demo' shows every verb on an example; 'ounce advise MODEL' looks at yours.");
  app_.fallthrough();  // --config may stand behind the verb
  for (const VerbInfo* verb : verbs) add(app_, *verb, verb->name);
}

void Parser::add(CLI::App& parent, const VerbInfo& verb, const std::string& name) {
  CLI::App* const app = parent.add_subcommand(verb.name, verb.summary);
  if (verb.call == nullptr) {
    app->require_subcommand(1);
  } else {
    Bound& bound = bound_.emplace_back();
    bound.app = app;
    bound.call = verb.call(name);
    std::map<const Option*, CLI::Option*> added;
    for (Option& option : bound.call->options.all()) added[&option] = add(bound, option);
    for (const auto& [option, its] : added) {
      for (const Option* other : option->needed) its->needs(added.at(other));
      for (const Option* other : option->excluded) its->excludes(added.at(other));
    }
  }
  for (const VerbInfo* inside : verb.verbs) add(*app, *inside, name + ' ' + inside->name);
}

CLI::App& Parser::app(const std::string& verb) {
  verbs::find_verb(verbs_, verb);
  CLI::App* app = &app_;
  std::istringstream words(verb);
  for (std::string word; words >> word;) app = app->get_subcommand(word);
  return *app;
}

CLI::Option* Parser::add(Bound& bound, Option& option) {
  CLI::Option* added = nullptr;
  if (option.is_flag) {
    added = bound.app->add_flag(option.declared, flags_.emplace_back(), option.help);
  } else {
    added = bound.app->add_option(
        option.declared, [&option](const CLI::results_t& words) { return option.read(words); }, option.help);
    added->type_name(option.type);
  }
  if (option.is_list) added->expected(CLI::detail::expected_max_vector_size);
  if (option.takes_one_word) added->allow_extra_args(false);
  if (option.separator != 0) added->delimiter(option.separator);
  if (option.must_be) {
    const auto problem = option.must_be->problem;
    added->check(
        CLI::Validator([problem](std::string& word) { return problem(word); }, option.must_be->description));
  }
  added->default_str(option.by_default)->required(option.is_required)->group(option.heading);
  bound.options.emplace_back(added, &option);
  return added;
}

// CLI11 has set what takes words; flags, and what was given, are set here.
void Parser::take(Bound& bound) const {
  verbs::Options& options = bound.call->options;
  for (const auto& [given, option] : bound.options) {
    option->given = given->results();
    if (option->is_flag && given->count() != 0) option->read({given->as<bool>() ? "true" : "false"});
  }
  std::map<const CLI::Option*, std::size_t> used;
  for (const CLI::Option* given : bound.app->parse_order()) {
    const auto found = std::find_if(bound.options.begin(), bound.options.end(),
                                    [&](const auto& one) { return one.first == given; });
    const std::size_t at = used[given]++;
    if (found != bound.options.end())
      options.in_order.push_back(
          {found->second, at < given->results().size() ? given->results()[at] : std::string()});
  }
  if (const CLI::Option* config = app_.get_config_ptr(); config->count() != 0)
    options.config = config->as<std::string>();
}

VerbCall& Parser::chosen() {
  const auto is_parsed = [](const Bound& bound) { return bound.app->parsed(); };
  const auto last = std::find_if(bound_.rbegin(), bound_.rend(), is_parsed);  // the inner one comes behind
  for (Bound& outer : bound_) {
    if (&outer == &*last || !is_parsed(outer)) continue;
    if (const std::vector<CLI::Option*> given = outer.app->parse_order(); !given.empty())
      throw Error(ErrorCode::kUsage, fmt::format("{} has no option '{}'", last->call->options.verb(),
                                                 given.front()->get_name()));
  }
  take(*last);
  return *last->call;
}

}  // namespace ounce::cli
