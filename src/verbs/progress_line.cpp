#include "verbs/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "verbs/say.h"

namespace ounce::verbs {
namespace {
constexpr auto kBeforeFirst = std::chrono::milliseconds(500);  // short runs show nothing
constexpr auto kBetween = std::chrono::milliseconds(100);
}  // namespace

ProgressLine::ProgressLine(std::string what) : what_(std::move(what)) {
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
    if (has_shown) say_over("");
  });
}

ProgressLine::~ProgressLine() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::show() const {
  const auto total = progress_.total.load();
  const auto done = progress_.done.load();
  const char* stage = progress_.stage.load();
  if (total == 0) {
    say_over(plainly("{}: {}", what_, stage));
  } else {
    say_over(plainly("{}: {} {} %", what_, stage, done * 100 / total));
  }
}

}  // namespace ounce::verbs
