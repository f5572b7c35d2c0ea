#include "verbs/command_line.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/cancel.h"
#include "base/text.h"
#include "report/option_words.h"

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

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCancelled) {
      // Whatever was wrong with the bytes: they were not the file's.
      if (const auto cut = take_file_fault()) return {exit_code(ErrorCode::kIo), *cut};
    }
    return {exit_code(error.code()), report::with_options(error)};
  } catch (const std::bad_alloc&) {
    return {exit_code(ErrorCode::kIo), "out of memory"};
  } catch (const std::system_error& error) {
    return {exit_code(ErrorCode::kIo), error.what()};
  } catch (const std::exception& error) {
    return {exit_code(ErrorCode::kInternal),
            fmt::format("internal error: {}; please report it", error.what())};
  }
}

double duration_of(const std::string& text, const char* option) {
  constexpr double kMost = 30 * 86400.0;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = value * scale;
  if (failure != std::errc() || !(seconds > 0) || seconds > kMost)
    throw Error(ErrorCode::kUsage,
                fmt::format("{} '{}' must be a time such as 90s, 10m or 2h, up to 30 days", option, text));
  return seconds;
}

Budget budget_of(const std::string& text, const char* option) {
  constexpr std::uint64_t kMost = 1'000'000;
  const std::size_t word = text.find(" model");
  if (word == std::string::npos) return {duration_of(text, option), 0};
  Budget budget;
  const char* const last = text.data() + word;
  const auto [end, failure] = std::from_chars(text.data(), last, budget.models);
  const std::string_view unit = std::string_view(text).substr(word + 1);
  if (failure != std::errc() || end != last || budget.models == 0 || budget.models > kMost ||
      (unit != "models" && unit != "model"))
    throw Error(ErrorCode::kUsage,
                fmt::format("{} '{}' must be a time such as 10m, or a number of models such as '40 models'",
                            option, text));
  return budget;
}

}  // namespace ounce::verbs
