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
thread_local std::int64_t deadline = kNever;  // nanoseconds of the steady clock

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void request_cancel() noexcept { cancelled.store(true, std::memory_order_relaxed); }
bool is_cancelled() noexcept { return cancelled.load(std::memory_order_relaxed); }

void throw_if_cancelled() {
  if (is_cancelled()) throw Error(ErrorCode::kCancelled, "stopped; nothing was written");
  if (deadline != kNever && now() >= deadline)
    throw Error(ErrorCode::kCancelled, "the time is up; nothing was written");
}

TimeLimit::TimeLimit(double seconds) : outer_(deadline) {
  const double most = 1e9;  // seconds: decades, and no overflow
  deadline = std::min(outer_, now() + static_cast<std::int64_t>(1e9 * std::clamp(seconds, 0.0, most)));
}

TimeLimit::~TimeLimit() { deadline = outer_; }

Deadline Deadline::of_this_thread() noexcept { return Deadline(deadline); }
Deadline::Scope::Scope(const Deadline& limit) noexcept : outer_(deadline) { deadline = limit.moment_; }
Deadline::Scope::~Scope() { deadline = outer_; }

}  // namespace ounce
