#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "report/table.h"

namespace ounce::cli {
namespace {
constexpr auto kBeforeFirst = std::chrono::milliseconds(500);  // short runs show nothing
constexpr auto kBetween = std::chrono::milliseconds(100);

}  // namespace

ProgressLine::ProgressLine(verbs::Host& host, std::string what) : host_(host), what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread([this] {
    auto next = std::chrono::steady_clock::now() + kBeforeFirst;
    bool has_shown = false;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (std::chrono::steady_clock::now() < next) continue;
      next += kBetween;
      show();
      has_shown = true;
    }
    if (has_shown) host_.show("");
  });
}

ProgressLine::~ProgressLine() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::show() {
  const auto total = progress.total.load();
  const auto done = progress.done.load();
  const char* stage = progress.stage.load();
  if (total == 0) {
    host_.show(report::safe_format("{}: {}", what_, stage));
  } else {
    const auto left = time_left_.seconds(stage, done, total, std::chrono::steady_clock::now());
    host_.show(report::safe_format("{}: {} {} %{}", what_, stage, done * 100 / total,
                                   left ? ", " + time_left_text(*left) + " left" : std::string()));
  }
}

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
