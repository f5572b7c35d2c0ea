// Shows the progress of a call and stops it. Use one Progress object per call.
//
//   ounce::Progress progress;
//   progress.stop_after(std::chrono::minutes(5));
//   options.progress = &progress;
//   ounce::tune("model.onnx", "model.tuned.onnx", options);   // another thread may call progress.stop()
//
// A stopped call throws Error{kCancelled} and leaves no unfinished files; tune() keeps the best result so
// far. Other calls, in this thread or another, continue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace ounce {

class Progress {
 public:
  // Updated during the call; other threads may read them.
  std::atomic<const char*> stage{""};
  std::atomic<std::uint64_t> done{0}, total{0};  // of the stage; total 0: unknown

  // Stops the call. Safe in any thread and in signal handlers.
  void stop() noexcept { is_asked_.store(true, std::memory_order_relaxed); }
  // Sets a deadline. Call it before the call starts.
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
