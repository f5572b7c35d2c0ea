#include "verbs/suggestion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace ounce::verbs {
namespace {

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string with_guess(const std::string& message, const std::string& guess) {
  return guess.empty() ? message : fmt::format("{}; did you mean '{}'?", message, guess);
}

std::string guess_of(std::string_view word, const std::vector<std::string>& known) {
  if (std::string near = nearest(word, known); !near.empty()) return near;
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string found;
  for (const std::string& name : known) {
    if (word.empty() || !name.ends_with('-' + std::string(word))) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words) {
  const CLI::App* verb = nullptr;
  std::vector<std::string> verbs;
  for (const CLI::App* command : parser.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(command->get_name());
    if (command->parsed()) verb = command;
  }
  if (const auto* file = dynamic_cast<const CLI::FileError*>(&error)) return file->what();
  if (verb == nullptr) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const bool is_value = i > 0 && words[i - 1] == "--config";
      if (!is_value && !word.starts_with("-"))
        return with_guess(fmt::format("'{}' is not a verb of ounce", word), nearest(word, verbs));
    }
    return "say what to do: 'ounce demo' shows it on an example, 'ounce advise MODEL' looks at yours, 'ounce "
           "--help' lists the verbs";
  }
  std::vector<std::string> known = options_of(*verb);
  for (const std::string& name : options_of(parser)) known.push_back(name);
  for (const std::string_view given : words) {
    const std::string_view word = given.substr(0, given.find('='));
    if (!word.starts_with("--") || word == "--" || std::find(known.begin(), known.end(), word) != known.end())
      continue;
    return with_guess(fmt::format("{} has no option '{}'", verb->get_name(), word), guess_of(word, known));
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fmt::format("{}: {}", verb->get_name(), message);
}

}  // namespace ounce::verbs
