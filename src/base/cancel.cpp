#include "base/cancel.h"

#include <ounce/error.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace ounce {
namespace {

using std::chrono::steady_clock;

constexpr auto kNever = steady_clock::time_point::max();
thread_local const CancellationScope* current = nullptr;
thread_local std::shared_ptr<FileFault> ended_fault;  // of the last scope, if an exception ended it

std::shared_ptr<FileFault> new_fault() noexcept {
  try {
    return std::make_shared<FileFault>();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

Error error_of(const FileFault& fault) {
  return {ErrorCode::kIo,
          "was truncated while it was read, or could not be read completely; nothing was written",
          fault.path()};
}

steady_clock::time_point moment_in(double seconds) {
  const double most = 1e9;  // decades, without overflow
  return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                   std::chrono::duration<double>(std::clamp(seconds, 0.0, most)));
}

}  // namespace

constinit thread_local std::uint64_t detail::steps = 0;

void FileFault::record(const char* path) noexcept {
  State none = State::kNone;
  if (!state_.compare_exchange_strong(none, State::kRecording)) return;
  for (std::size_t i = 0; i + 1 < path_.size() && path[i] != '\0'; ++i) path_[i] = path[i];
  state_.store(State::kRecorded, std::memory_order_release);
}

std::string FileFault::path() const {
  return state_.load(std::memory_order_acquire) == State::kRecorded ? path_.data() : "";
}

CancellationScope::CancellationScope(const Progress* progress) noexcept
    : CancellationScope(progress, kNever, new_fault()) {
  has_own_fault_ = true;
  ended_fault.reset();
}

CancellationScope::CancellationScope(const Progress* progress, Moment deadline,
                                     std::shared_ptr<FileFault> fault) noexcept
    : progress_(progress),
      deadline_(current == nullptr ? deadline : std::min(deadline, current->deadline_)),
      outer_(current),
      fault_(std::move(fault)),
      has_own_fault_(false),
      exceptions_(std::uncaught_exceptions()) {
  current = this;
}

CancellationScope::~CancellationScope() noexcept(false) {
  current = outer_;
  if (!has_own_fault_ || fault_ == nullptr || !fault_->is_set()) return;
  if (std::uncaught_exceptions() == exceptions_) throw error_of(*fault_);
  ended_fault = std::move(fault_);
}

std::shared_ptr<FileFault> fault_of_scope() noexcept {
  return current == nullptr ? nullptr : current->fault_;
}

void throw_if_file_was_cut() {
  for (const CancellationScope* scope = current; scope != nullptr; scope = scope->outer_) {
    if (scope->fault_ != nullptr && scope->fault_->is_set()) throw error_of(*scope->fault_);
  }
}

std::optional<std::string> take_file_fault() {
  if (const auto ended = std::exchange(ended_fault, nullptr)) return error_of(*ended).what();
  for (const CancellationScope* scope = current; scope != nullptr; scope = scope->outer_) {
    if (scope->fault_ != nullptr && scope->fault_->is_set()) return error_of(*scope->fault_).what();
  }
  return std::nullopt;
}

bool is_cancelled() noexcept {
  for (const CancellationScope* scope = current; scope != nullptr; scope = scope->outer_) {
    if (scope->progress_ != nullptr && scope->progress_->is_stopped()) return true;
  }
  return false;
}

void throw_if_cancelled() {
  throw_if_file_was_cut();
  if (is_cancelled()) throw Error(ErrorCode::kCancelled, "stopped; nothing was written");
  if (current != nullptr && current->deadline_ != kNever && steady_clock::now() >= current->deadline_)
    throw Error(ErrorCode::kCancelled, "the time limit was reached; nothing was written");
}

TimeLimit::TimeLimit(double seconds) : scope_(nullptr, moment_in(seconds), fault_of_scope()) {}

CurrentScope::CurrentScope() noexcept : scope_(current) {}
CurrentScope::Scope::Scope(const CurrentScope& inherited) noexcept : outer_(current) {
  current = inherited.scope_;
}
CurrentScope::Scope::~Scope() { current = outer_; }

}  // namespace ounce
