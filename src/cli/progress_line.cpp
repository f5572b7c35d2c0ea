#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
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
    host_.show(report::plainly("{}: {}", what_, stage));
  } else {
    const auto left = time_left_.seconds(stage, done, total, std::chrono::steady_clock::now());
    host_.show(report::plainly("{}: {} {} %{}", what_, stage, done * 100 / total,
                               left ? ", " + time_left_text(*left) + " left" : std::string()));
  }
}

}  // namespace ounce::cli
