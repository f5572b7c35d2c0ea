#include "cli/duration.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <string_view>

namespace ounce::cli {

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

}  // namespace ounce::cli
