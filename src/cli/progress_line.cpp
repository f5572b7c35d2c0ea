#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "report/plainly.h"
#include "report/table.h"

namespace ounce::cli {
namespace {
constexpr auto kBeforeFirst = std::chrono::milliseconds(500);  // short runs show nothing
constexpr double kBeforeGuess = 2;                             // seconds
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

// As the stage went so far; nothing while that is a guess.
std::string ProgressLine::time_left(std::uint64_t done, std::uint64_t total) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  if (done == 0 || done >= total || seconds < kBeforeGuess) return {};
  const double left = seconds * static_cast<double>(total - done) / static_cast<double>(done);
  return fmt::format(", {} left", report::time_text(left));
}

void ProgressLine::show() {
  const auto total = progress.total.load();
  const auto done = progress.done.load();
  const char* stage = progress.stage.load();
  if (stage != stage_) {
    stage_ = stage;
    since_ = std::chrono::steady_clock::now();
  }
  if (total == 0) {
    host_.show(report::plainly("{}: {}", what_, stage));
  } else {
    host_.show(report::plainly("{}: {} {} %{}", what_, stage, done * 100 / total, time_left(done, total)));
  }
}

}  // namespace ounce::cli
