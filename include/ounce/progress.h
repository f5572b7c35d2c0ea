// How a call is doing, and how to end it early: one Progress for each call.
//
//   ounce::Progress progress;
//   progress.stop_after(std::chrono::minutes(5));
//   options.progress = &progress;
//   ounce::tune("model.onnx", "model.tuned.onnx", options);   // another thread may call progress.stop()
//
// A call that is stopped throws Error{kCancelled} and leaves nothing unfinished behind; tune() keeps the best
// so far. Other calls, in this thread or another, go on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace ounce {

class Progress {
 public:
  // Filled in while the work goes on; another thread may look at it.
  std::atomic<const char*> stage{""};
  std::atomic<std::uint64_t> done{0}, total{0};  // of the stage; total 0: nobody knows

  // From any thread; safe in signal handlers.
  void stop() noexcept { is_asked_.store(true, std::memory_order_relaxed); }
  // Before the call begins.
  void stop_at(std::chrono::steady_clock::time_point moment) noexcept { deadline_ = moment; }
  void stop_after(std::chrono::nanoseconds time) noexcept {
    stop_at(std::chrono::steady_clock::now() + time);
  }

  bool is_stopped() const noexcept {
    return is_asked_.load(std::memory_order_relaxed) ||
           (deadline_ != kNever && std::chrono::steady_clock::now() >= deadline_);
  }

 private:
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();

  std::atomic<bool> is_asked_{false};
  std::chrono::steady_clock::time_point deadline_ = kNever;
  static_assert(std::atomic<bool>::is_always_lock_free, "stop() runs in signal handlers");
};

}  // namespace ounce
