#include "verbs/duration.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <string_view>

namespace ounce::verbs {

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
