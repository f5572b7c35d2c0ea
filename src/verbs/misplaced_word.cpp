#include "verbs/misplaced_word.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "base/shell_word.h"
#include "verbs/option_kinds.h"

namespace ounce::verbs {
namespace {

struct GivenWord {
  const CLI::Option* option = nullptr;
  std::string value;
};

// Options and arguments in the order of the command line.
std::vector<GivenWord> in_order(const CLI::App& verb) {
  std::vector<GivenWord> given;
  std::map<const CLI::Option*, std::size_t> used;
  for (const CLI::Option* option : verb.parse_order()) {
    const std::size_t at = used[option]++;
    given.push_back({option, at < option->results().size() ? option->results()[at] : std::string()});
  }
  return given;
}

bool is_list_item(const GivenWord& given) {
  std::error_code none;
  return given.option->get_positional() && !given.value.ends_with(".onnx") &&
         !std::filesystem::exists(given.value, none);
}

// The option whose values were separated by blanks, with all of them; nothing when the word follows no such
// option.
std::string hint_of_list(const std::vector<GivenWord>& given, const std::string& word) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_joined_list(*given[i].option)) continue;
    std::vector<std::string> values = {given[i].value};
    for (std::size_t j = i + 1; j < given.size() && is_list_item(given[j]); ++j)
      values.push_back(given[j].value);
    if (std::find(values.begin() + 1, values.end(), word) == values.end()) continue;
    return fmt::format(". The values of {0} are separated by commas, without spaces: {0} {1}",
                       given[i].option->get_name(), fmt::join(values, ","));
  }
  return {};
}

// ounce quantize model.onnx out.onnx
std::string hint_of_output(const CLI::App& verb, const std::vector<GivenWord>& given,
                           const std::string& word) {
  const CLI::Option* output = verb.get_option_no_throw("--output");
  if (output == nullptr || output->count() != 0) return {};
  std::vector<std::string> arguments;
  for (const GivenWord& one : given) {
    if (one.option->get_positional()) arguments.push_back(one.value);
  }
  if (arguments.size() < 2 || arguments.back() != word) return {};
  return fmt::format(". To choose the name of the result, use -o {}", quoted(word));
}

}  // namespace

std::string hint_for_word(const CLI::App& verb, const std::string& word) {
  const std::vector<GivenWord> given = in_order(verb);
  const std::string hint = hint_of_list(given, word);
  return hint.empty() ? hint_of_output(verb, given, word) : hint;
}

}  // namespace ounce::verbs
