#include "cli/parse_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "verbs/options.h"

namespace ounce::cli {
namespace {

using verbs::guess_of;
using verbs::with_guess;

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

// What people call it elsewhere, and the verb for it.
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

std::string path_of(const CLI::App& verb) {
  if (verb.get_parent() == nullptr) return {};
  const std::string before = path_of(*verb.get_parent());
  return before.empty() ? verb.get_name() : before + " " + verb.get_name();
}

// The verb that was begun: "contract set".
const CLI::App& begun(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->parsed()) return begun(*verb);
  }
  return app;
}

bool looks_like_model(const std::string& word) {
  std::error_code none;
  return word.ends_with(".onnx") || std::filesystem::exists(word, none);
}

// Empty when no word could be a verb.
std::string explain_verb(const CLI::App& parser, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_value = i > 0 && words[i - 1] == "--config";
    if (is_value || word.starts_with("-")) continue;
    if (looks_like_model(word)) {
      return fmt::format(
          "'{0}' is not a verb of ounce. To work on a model, write 'ounce inspect {0}' or 'ounce quantize "
          "{0}'; 'ounce help' lists the verbs",
          word);
    }
    std::string guess = verb_for(word);
    if (guess.empty()) guess = nearest(word, names_of_verbs(parser));
    return with_guess(fmt::format("'{}' is not a verb of ounce", word), guess);
  }
  return {};
}

}  // namespace

std::string explain(const CLI::ParseError& error, const CLI::App& parser,
                    const std::vector<std::string>& words) {
  if (const auto* file = dynamic_cast<const CLI::FileError*>(&error)) return file->what();
  const CLI::App& verb = begun(parser);
  if (&verb == &parser) {
    if (std::string message = explain_verb(parser, words); !message.empty()) return message;
  }
  // A verb also takes the options of the verbs above it.
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
    return fmt::format("{}: say which of its verbs: {}", path_of(verb), fmt::join(inside, ", "));
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (message == "--output is required") message += ": name the result with '-o'";
  return fmt::format("{}: {}", path_of(verb), message);
}

}  // namespace ounce::cli
