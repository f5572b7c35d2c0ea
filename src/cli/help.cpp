#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parser.h"
#include "cli/terminal.h"
#include "cli/verb_tree.h"

namespace ounce::cli {
namespace {

bool is_everyday(const CLI::Option& option, const verbs::VerbInfo& info) {
  if (option.get_positional() || option.get_required() || info.everyday.empty()) return true;
  const std::vector<std::string>& names = option.get_lnames();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == "help" || name == "help-all" ||
           std::find(info.everyday.begin(), info.everyday.end(), "--" + name) != info.everyday.end();
  });
}

// What CLI11 has no group for, it does not show; what is shown stands together.
std::size_t hide_the_rest(CLI::App& verb, const verbs::VerbInfo& info) {
  std::size_t hidden = 0;
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    if (is_everyday(*option, info)) {
      option->group("Options");
    } else {
      option->group("");
      ++hidden;
    }
  }
  return hidden;
}

std::string examples_of(const verbs::VerbInfo* info) {
  if (info == nullptr || info->examples.empty()) return {};
  std::string text = "\nExamples:\n";
  for (const std::string_view line : info->examples) text += fmt::format("  {}\n", line);
  return text;
}

// "ounce contract" of "ounce contract set"; nothing for the program.
std::string words_before(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const std::string before = words_before(*app.get_parent());
  return (before.empty() ? "" : before + " ") + app.get_parent()->get_name();
}

}  // namespace

CLI::App& asked_about(CLI::App& parser) {
  const std::vector<CLI::App*> verbs = parser.get_subcommands();
  return verbs.empty() ? parser : asked_about(*verbs.front());
}

std::string help_text(CLI::App& app, HelpLength length, std::size_t width) {
  const verbs::VerbInfo* info =
      app.get_parent() == nullptr ? nullptr : &verbs::find_verb(program_verbs(), path_of(app));
  std::size_t hidden = 0;
  if (length == HelpLength::kShort && info != nullptr) hidden = hide_the_rest(app, *info);
  if (app.get_parent() != nullptr) app.footer("");
  std::string text = wrap_help(app.help(words_before(app)), width);
  while (text.ends_with("\n\n")) text.pop_back();
  text += examples_of(info);
  if (hidden != 0) text += fmt::format("\n{} more options: 'ounce {} --help-all'\n", hidden, path_of(app));
  return text;
}

}  // namespace ounce::cli
