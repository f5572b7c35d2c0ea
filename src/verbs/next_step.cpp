#include "verbs/next_step.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace ounce::verbs {
namespace {

using results::Json;
using Words = std::vector<std::string>;

// `when`: a key of the first result that must be present ("output") or have a value ("passed=false",
// "reference=*.mlpackage"); empty: always. `command` has these placeholders; a row with one that is unknown
// does not apply:
//   {output}             a key of the first result; {commands.0.line} a nested one, which may be the whole
//   line {exclude:--exclude}  each value of a list as an option, which may be empty
//   {@model}             a word of the command line; {@model.1} its second word
//   {data}, {data!}      the options that describe data; with ! there must be some
//   {samples!}           the same without those of preprocessing
//   {made}               the command line without --dry-run
struct Row {
  std::string_view verb, when, command;
};

constexpr Row kRows[] = {
    {"inspect", "bytes_after", "ounce quantize {model}"},
    {"inspect", "", "ounce bench {model}"},
    {"quantize", "dry_run=true", "{made}"},
    {"quantize", "", "ounce verify {model} {output}{data}"},
    {"verify", "reference=*.mlpackage", "ounce bench {reference} {candidate}"},
    {"verify", "passed=false", "ounce sensitivity {reference}{data!}"},
    {"verify", "passed=false", "ounce sensitivity {reference} --to w8"},
    {"verify", "", "ounce bench {reference} {candidate}"},
    {"bench", "models.1.model=*.mlpackage", "ounce diff {@model} {@model.1}"},
    {"bench", "", "ounce check {@model.1}"},
    {"bench", "", "ounce {@model}"},
    {"tune", "passed=true", "ounce bench {model} {output}"},
    {"tune", "passed=false", "ounce sensitivity {model}{data!}"},
    {"advise", "", "{commands.0.line}"},
    {"check", "targets.0.loads=true", "ounce bench {model}"},
    {"check", "", "ounce inspect {model}"},
    {"sensitivity", "", "ounce quantize {model} --to {format}{data}{exclude:--exclude}"},
    {"calibrate", "values", "ounce quantize {@model} --to int8 --ranges {output}"},
    {"diff", "same=false", "ounce verify {a} {b}"},
    {"publish", "output", "ounce check {output} --target ort-web@1.22.0"},
    {"contract set", "", "ounce contract check {@output}{samples!}"},
    {"contract set", "", "ounce contract show {@output}"},
    {"contract check", "passed=true", "ounce bench {model}"},
    {"unpack", "", "ounce bench {@model}"},
    {"repack", "", "ounce check {output}"},
    {"prove", "verdict=refuted", "ounce diff {@source} {model}"},
    {"prove", "", "ounce bench {model}"},
};

// Returns a value of the first result, by its path of keys and positions; null if there is none.
const Json* find_value(const Json& document, std::string_view path) {
  if (!document.contains("results") || document["results"].empty()) return nullptr;
  const Json* value = &document["results"][0];
  while (!path.empty()) {
    const std::string key(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    if (value->is_array()) {
      std::size_t at = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), at);
      if (error != std::errc() || at >= value->size()) return nullptr;
      value = &(*value)[at];
    } else if (value->is_object() && value->contains(key)) {
      value = &(*value)[key];
    } else {
      return nullptr;
    }
  }
  return value->is_null() ? nullptr : value;
}

std::string text_of_value(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool applies(const Json& document, std::string_view when) {
  const std::size_t equals = when.find('=');
  if (when.empty()) return true;
  const Json* const value = find_value(document, when.substr(0, equals));
  if (value == nullptr || equals == when.npos) return value != nullptr;
  const std::string_view wanted = when.substr(equals + 1);
  const std::string text = text_of_value(*value);
  return wanted.starts_with('*') ? text.ends_with(wanted.substr(1)) : text == wanted;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += ' ' + quoted(word);
  return text;
}

class Template {
 public:
  Template(const Options& options, const Json& document) : options_(options), document_(document) {}

  // Returns nullopt if a placeholder is unknown.
  std::optional<std::string> fill(std::string_view command) const {
    std::string text;
    while (!command.empty()) {
      const std::size_t begin = std::min(command.find('{'), command.size());
      text += command.substr(0, begin);
      if (begin == command.size()) break;
      const std::size_t end = command.find('}', begin);
      const std::string_view name = command.substr(begin + 1, end - begin - 1);
      const bool is_whole = begin == 0 && end + 1 == command.size();
      const std::optional<std::string> value = value_of(name, text.empty() && is_whole);
      if (!value) return std::nullopt;
      text += *value;
      command.remove_prefix(end + 1);
    }
    return text;
  }

 private:
  std::optional<std::string> value_of(std::string_view name, bool is_whole) const {
    if (name == "made") return command_line(options_, {"--dry-run"});
    if (name.starts_with("data") || name.starts_with("samples")) {
      const Words words = data_words(options_, name.starts_with("data"));
      if (words.empty() && name.ends_with('!')) return std::nullopt;
      return joined(words);
    }
    if (name.starts_with('@')) return word_of(name.substr(1));
    const std::size_t colon = name.find(':');
    const Json* const value = find_value(document_, name.substr(0, colon));
    if (value == nullptr) return std::nullopt;
    if (colon != name.npos) {
      Words words;
      for (const Json& one : *value) {
        words.emplace_back(name.substr(colon + 1));
        words.push_back(text_of_value(one));
      }
      return joined(words);
    }
    const std::string text = text_of_value(*value);
    if (text.empty()) return std::nullopt;
    return is_whole ? text : quoted(text);
  }

  std::optional<std::string> word_of(std::string_view name) const {
    const std::size_t dot = name.find('.');
    const Option* const option = options_.find(name.substr(0, dot));
    const std::size_t at = dot == name.npos ? 0 : static_cast<std::size_t>(name[dot + 1] - '0');
    if (option == nullptr || at >= option->given.size()) return std::nullopt;
    return quoted(option->given[at]);
  }

  const Options& options_;
  const Json& document_;
};

}  // namespace

std::vector<std::string> data_words(const Options& options, bool with_preprocessing) {
  Words words;
  for (const Option& option : options.all()) {
    const bool is_meant =
        option.heading == kDataHeading || (with_preprocessing && option.heading == kPreprocessingHeading);
    for (std::size_t i = 0; is_meant && i < option.given.size(); ++i) {
      words.push_back(option.name());
      words.push_back(option.given[i]);
    }
  }
  return words;
}

std::string next_command(const Options& options, const Json& document) {
  for (const Row& row : kRows) {
    if (row.verb != document["verb"].get<std::string>() || !applies(document, row.when)) continue;
    if (const auto command = Template(options, document).fill(row.command)) return *command;
  }
  return {};
}

}  // namespace ounce::verbs
