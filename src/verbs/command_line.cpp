#include "verbs/command_line.h"

#include <vector>

#include "base/shell_word.h"

namespace ounce::verbs {
namespace {

bool is_no(const std::string& value) { return value == "false"; }

// --no-verify where a flag was turned off by that name.
std::string flag_word(const CLI::Option& option, bool is_off) {
  for (const std::string& name : option.get_fnames()) {
    if (is_off) return "--" + name;
  }
  return option.get_name();
}

void add_option_words(const CLI::Option& option, std::vector<std::string>& words) {
  if (option.count() == 0 || option.get_positional() || option.get_name() == "--json") return;
  for (const std::string& value : option.results()) {
    if (option.get_items_expected_max() == 0) {
      words.push_back(flag_word(option, is_no(value)));
      continue;
    }
    words.push_back(option.get_name());
    words.push_back(value);
  }
}

}  // namespace

std::string command_line(const CLI::App& verb) {
  std::vector<std::string> words;
  for (const CLI::App* app = &verb; app != nullptr; app = app->get_parent()) {
    if (!app->get_name().empty()) words.insert(words.begin(), app->get_name());
  }
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_positional())
      words.insert(words.end(), option->results().begin(), option->results().end());
  }
  for (const CLI::Option* option : verb.get_options()) add_option_words(*option, words);
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

}  // namespace ounce::verbs
