#include "base/cancel.h"

#include <ounce/error.h>

#include <algorithm>

namespace ounce {
namespace {

using std::chrono::steady_clock;

constexpr auto kNever = steady_clock::time_point::max();
thread_local const Call* current = nullptr;

steady_clock::time_point moment_in(double seconds) {
  const double most = 1e9;  // decades, and no overflow
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                   std::chrono::duration<double>(std::clamp(seconds, 0.0, most)));
}

}  // namespace

Call::Call(const Progress* progress) noexcept : Call(progress, kNever) {}

Call::Call(const Progress* progress, Moment deadline) noexcept
    : progress_(progress),
      deadline_(current == nullptr ? deadline : std::min(deadline, current->deadline_)),
      outer_(current) {
  current = this;
}

Call::~Call() { current = outer_; }

bool is_cancelled() noexcept {
  for (const Call* call = current; call != nullptr; call = call->outer_) {
    if (call->progress_ != nullptr && call->progress_->is_stopped()) return true;
  }
  return false;
}

void throw_if_cancelled() {
  if (is_cancelled()) throw Error(ErrorCode::kCancelled, "stopped; nothing was written");
  if (current != nullptr && current->deadline_ != kNever && steady_clock::now() >= current->deadline_)
    throw Error(ErrorCode::kCancelled, "the time is up; nothing was written");
}

TimeLimit::TimeLimit(double seconds) : call_(nullptr, moment_in(seconds)) {}

CallOfThread::CallOfThread() noexcept : call_(current) {}
CallOfThread::Scope::Scope(const CallOfThread& call) noexcept : outer_(current) { current = call.call_; }
CallOfThread::Scope::~Scope() { current = outer_; }

}  // namespace ounce
