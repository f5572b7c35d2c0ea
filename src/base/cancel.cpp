#include "base/cancel.h"

#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

namespace ounce {
namespace {

std::atomic<bool> cancelled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "request_cancel() runs in signal handlers");

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> deadline{kNever};  // nanoseconds of the steady clock

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void request_cancel() noexcept { cancelled.store(true, std::memory_order_relaxed); }
bool is_cancelled() noexcept { return cancelled.load(std::memory_order_relaxed); }

void throw_if_cancelled() {
  if (is_cancelled()) throw Error(ErrorCode::kCancelled, "stopped; nothing was written");
  const std::int64_t limit = deadline.load(std::memory_order_relaxed);
  if (limit != kNever && now() >= limit)
    throw Error(ErrorCode::kCancelled, "the time is up; nothing was written");
}

TimeLimit::TimeLimit(double seconds) : outer_(deadline.load()) {
  const double most = 1e9;  // seconds: decades, and no overflow
  deadline = std::min(outer_, now() + static_cast<std::int64_t>(1e9 * std::clamp(seconds, 0.0, most)));
}

TimeLimit::~TimeLimit() { deadline = outer_; }

}  // namespace ounce
