#include "verbs/option_values.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace ounce::verbs {
namespace {

[[noreturn]] void refuse(const char* option, const std::string& text, const char* wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("`{}` '{}' must be {}", option, text, wanted));
}

double number_of(std::string_view text, const char* option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse(option, std::string(text), "a number");
  return value;
}

}  // namespace

double fraction_of(const std::string& text, const char* option) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return number_of(text, option);
  const double below = number_of(std::string_view(text).substr(slash + 1), option);
  if (below == 0) refuse(option, text, "a number or a fraction such as 1/255");
  return number_of(std::string_view(text).substr(0, slash), option) / below;
}

double share_of(const std::string& text, const char* option, double largest_bare) {
  const bool is_percent = text.ends_with('%');
  const double value =
      number_of(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)), option);
  const double share = is_percent ? value / 100 : value;
  if (!is_percent && value > largest_bare) {
    throw Error(ErrorCode::kUsage,
                fmt::format("`{}` '{}' is {:.0f} %; did you mean '{}%'?", option, text, 100 * value, text));
  }
  if (share < 0 || share > 1) refuse(option, text, "from 0 to 100%");
  return share;
}

std::vector<double> numbers_of(const std::string& text, const char* option) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    numbers.push_back(fraction_of(text.substr(at, comma - at), option));
    at = comma + 1;
  }
  return numbers;
}

std::int64_t whole_of(std::string_view text, const char* option) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    refuse(option, std::string(text), "a whole number above 0");
  return value;
}

std::pair<std::uint64_t, std::uint64_t> part_of(const std::string& text, const char* option) {
  const char* const last = text.data() + text.size();
  std::uint64_t number = 0, count = 0;
  const auto [slash, failure] = std::from_chars(text.data(), last, number);
  const bool has_slash = failure == std::errc() && slash != last && *slash == '/';
  const auto [end, second_failure] = std::from_chars(has_slash ? slash + 1 : last, last, count);
  if (!has_slash || second_failure != std::errc() || end != last || number < 1 || number > count)
    refuse(option, text, "I/N with I from 1 to N");
  return {number - 1, count};
}

std::pair<std::string, std::string> split_pair(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) refuse(option, text, "NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
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
    refuse(option, text, "a time such as 90s, 10m or 2h, up to 30 days");
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
    refuse(option, text, "a time such as 10m, or a number of models such as '40 models'");
  return budget;
}

}  // namespace ounce::verbs
