#include "cli/time_left.h"

#include <fmt/format.h>

#include <cmath>

namespace ounce::cli {

std::optional<double> TimeLeft::seconds(const char* stage, std::uint64_t done, std::uint64_t total,
                                        Time now) {
  constexpr double kLeastSeconds = 2, kLeastShare = 0.03;
  // Another stage, or the same one for something else.
  if (stage != stage_ || total != total_ || done < first_done_) {
    stage_ = stage;
    total_ = total;
    first_done_ = done;
    start_ = now;
    return std::nullopt;
  }
  const double taken = std::chrono::duration<double>(now - start_).count();
  const auto made = static_cast<double>(done - first_done_),
             left = static_cast<double>(total - std::min(done, total));
  if (taken < kLeastSeconds || made < kLeastShare * static_cast<double>(total) || made == 0)
    return std::nullopt;
  return taken * left / made;
}

std::string time_left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, std::ceil(seconds)));
  const auto minutes = static_cast<std::uint64_t>(std::lround(seconds / 60));
  if (minutes < 90) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace ounce::cli
