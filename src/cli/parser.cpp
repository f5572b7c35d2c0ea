#include "cli/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "base/text.h"

namespace ounce::cli {

using verbs::Audience;
using verbs::guess_of;
using verbs::Option;
using verbs::VerbCall;
using verbs::VerbInfo;
using verbs::with_guess;

Parser::Parser(std::span<const VerbInfo* const> verbs, std::function<std::string()> version)
    : verbs_(verbs), app_(kProgram, "ounce") {
  app_.set_version_flag("--version", std::move(version), kVersion);
  add_config_option(app_, verbs);
  app_.add_flag("-q,--quiet", is_quiet_, kQuiet);
  app_.require_subcommand(1);
  app_.set_help_flag("-h,--help", kHelp);
  app_.set_help_all_flag("--help-all", kHelpAll);
  app_.footer(
      "Exit codes: 0 success, 1 a threshold is exceeded, 2 bad usage or bad input, 3 not supported, 4 I/O "
      "error, 70 internal error.\n"
      "'ounce help COMMAND' shows the help of a command, 'ounce COMMAND --help-all' all of its options.\n"
      "To get started, run 'ounce MODEL' for an overview of your model, or 'ounce demo' for a "
      "demonstration.");
  app_.fallthrough();  // accepts --config and --quiet after the verb
  for (const VerbInfo* verb : verbs) add(app_, *verb, verb->name);
}

namespace {

// True if the help names all choices, so that a list of them would only repeat it.
bool names_choices(const Option& option) {
  const std::vector<std::string>& choices = option.choices();
  return !choices.empty() && std::all_of(choices.begin(), choices.end(), [&](const std::string& word) {
    return option.help.find(word) != option.help.npos;
  });
}

std::string help_of(const Option& option) {
  const bool is_said = option.by_default.empty() || option.by_default == "[]" || option.is_flag ||
                       option.help.find("default") != option.help.npos;
  return is_said ? option.help : fmt::format("{} (default: {})", option.help, option.by_default);
}

// The placeholder of a value in the help: "NUMBER", "FILE".
std::string type_of(const Option& option) {
  if (option.type == "FLOAT") return "NUMBER";
  if (option.type == "INT" || option.type == "UINT") return "N";
  if (option.type != "TEXT") return option.type;
  return !option.argument.empty() ? "PATH" : option.choices().empty() ? "VALUE" : "NAME";
}

}  // namespace

void Parser::add(CLI::App& parent, const VerbInfo& verb, const std::string& name) {
  CLI::App* const app = parent.add_subcommand(verb.name, verb.summary);
  const bool is_inside = &parent != &app_;
  app->group(is_inside || verb.audience == Audience::kEveryday ? "Commands"
             : verb.audience == Audience::kMore                ? "More commands"
                                                               : "");
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
  if (!option.old_declared.empty()) add(bound, option, option.old_declared)->group("");  // not shown
  return add(bound, option, option.declared);
}

CLI::Option* Parser::add(Bound& bound, Option& option, const std::string& names) {
  CLI::Option* added = nullptr;
  const std::string help = help_of(option);
  if (option.is_flag) {
    added = bound.app->add_flag(names, flags_.emplace_back(), help);
  } else {
    added = bound.app->add_option(
        names, [&option](const CLI::results_t& words) { return option.read(words); }, help);
    added->type_name(type_of(option));
  }
  if (option.is_list) added->expected(CLI::detail::expected_max_vector_size);
  if (option.takes_one_word) added->allow_extra_args(false);
  if (option.separator != 0) added->delimiter(option.separator);
  if (option.must_be) {
    const auto problem = option.must_be->problem;
    added->check(CLI::Validator([problem](std::string& word) { return problem(word); },
                                names_choices(option) ? "" : option.must_be->description));
  }
  added->required(option.is_required)->group(option.is_expert ? "" : option.heading);
  bound.options.emplace_back(added, &option);
  return added;
}

// Sets flags, and records the given words. CLI11 has already set all other options.
void Parser::take(Bound& bound) const {
  verbs::Options& options = bound.call->options;
  for (const auto& [given, option] : bound.options) {
    if (!option->old_declared.empty() && given->count() == 0) continue;  // may be given by its other name
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

std::string path_of(const CLI::App& verb) {
  if (verb.get_parent() == nullptr) return {};
  const std::string before = path_of(*verb.get_parent());
  return before.empty() ? verb.get_name() : before + " " + verb.get_name();
}

namespace {

std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Names of commands in other tools, and the verb for each.
std::string verb_for(std::string_view word) {
  static constexpr std::pair<std::string_view, const char*> kOthers[] = {
      {"optimize", "quantize"}, {"optimise", "quantize"}, {"compress", "quantize"},  {"convert", "quantize"},
      {"shrink", "quantize"},   {"compare", "verify"},    {"test", "verify"},        {"eval", "verify"},
      {"validate", "verify"},   {"benchmark", "bench"},   {"profile", "bench"},      {"info", "inspect"},
      {"show", "inspect"},      {"search", "tune"},       {"analyze", "sensitivity"}};
  const auto* const found = std::find_if(std::begin(kOthers), std::end(kOthers),
                                         [&](const auto& other) { return other.first == word; });
  return found == std::end(kOthers) ? "" : found->second;
}

// Returns the innermost verb on the command line: "contract set".
const CLI::App& begun(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->parsed()) return begun(*verb);
  }
  return app;
}

bool looks_like_model(const std::string& word) {
  constexpr std::string_view kEndings[] = {".onnx", ".tflite", ".mlpackage", ".mlmodel", ".mlmodelc"};
  std::error_code none;
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return word.ends_with(ending); }) ||
         std::filesystem::exists(word, none);
}

// Returns the position of the first word that is no option and no value of --config.
std::size_t first_argument(const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size() && words[at].starts_with("-")) at += words[at] == "--config" ? 2U : 1U;
  return at;
}

// Explains an unknown verb. Empty if no word could be a verb.
std::string explain_verb(const CLI::App& parser, const std::vector<std::string>& words) {
  const std::size_t at = first_argument(words);
  if (at >= words.size()) return {};
  std::string guess = verb_for(words[at]);
  if (guess.empty()) guess = nearest(words[at], names_of_verbs(parser));
  if (guess.empty())
    return fmt::format("'{}' is neither a verb of ounce nor a file: 'ounce help' lists the verbs", words[at]);
  return with_guess(fmt::format("'{}' is not a verb of ounce", words[at]), guess);
}

}  // namespace

void use_names_of_verbs(std::vector<std::string>& words, std::span<const VerbInfo* const> verbs) {
  const std::size_t at = first_argument(words);
  if (at >= words.size()) return;
  for (const VerbInfo* verb : verbs) {
    if (is_named(*verb, words[at])) words[at] = verb->name;
  }
}

bool names_model_first(const std::vector<std::string>& words, std::span<const VerbInfo* const> verbs) {
  const std::size_t at = first_argument(words);
  if (at >= words.size() || !looks_like_model(words[at])) return false;
  const auto names_it = [&](const VerbInfo* verb) { return is_named(*verb, words[at]); };
  return words[at] != "help" && words[at] != "schema" && std::ranges::none_of(verbs, names_it);
}

std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words) {
  if (const auto* file = dynamic_cast<const CLI::FileError*>(&error)) return file->what();
  const CLI::App& verb = begun(parser);
  if (&verb == &parser) {
    if (std::string message = explain_verb(parser, words); !message.empty()) return message;
  }
  // A verb also accepts the options of its parents.
  std::vector<std::string> known;
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    for (const std::string& name : options_of(*app)) known.push_back(name);
  }
  for (const std::string_view given : words) {
    const std::string_view word = given.substr(0, given.find('='));
    if (word == "--") break;
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end()) continue;
    return with_guess(fmt::format("{} has no option '{}'", &verb == &parser ? "ounce" : path_of(verb), word),
                      guess_of(word, known));
  }
  if (&verb == &parser) return "no verb is given: 'ounce help' lists the verbs";
  if (const std::vector<std::string> inside = names_of_verbs(verb);
      !inside.empty() && verb.get_require_subcommand_min() > 0)
    return fmt::format("{}: name one of its verbs: {}", path_of(verb), fmt::join(inside, ", "));
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (message == "--output is required") message += ": name the output with '-o'";
  return fmt::format("{}: {}", path_of(verb), message);
}

}  // namespace ounce::cli
