#include "app/watchdog.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ounce::app {

struct Watchdog::State {
  std::mutex mutex;
  std::condition_variable changed;
  Entry* first = nullptr;
  Moment wakes_at = Moment::max();
  bool is_running = false;

  void remove(Entry& entry) {
    (entry.previous_ == nullptr ? first : entry.previous_->next_) = entry.next_;
    if (entry.next_ != nullptr) entry.next_->previous_ = entry.previous_;
    entry.previous_ = entry.next_ = nullptr;
    entry.is_armed_ = false;
  }
};

Watchdog::State& Watchdog::state() {
  static auto* const kept = new State;  // its thread goes on until the process ends
  return *kept;
}

void Watchdog::watch() {
  State& all = state();
  std::unique_lock lock(all.mutex);
  for (;;) {
    const Moment now = std::chrono::steady_clock::now();
    all.wakes_at = Moment::max();
    for (Entry* entry = all.first; entry != nullptr;) {
      Entry* const next = entry->next_;
      if (entry->deadline_ <= now) {
        all.remove(*entry);
        entry->late_(entry->user_);
      } else if (entry->deadline_ < all.wakes_at) {
        all.wakes_at = entry->deadline_;
      }
      entry = next;
    }
    if (all.wakes_at == Moment::max()) {
      all.changed.wait(lock);
    } else {
      all.changed.wait_until(lock, all.wakes_at);
    }
  }
}

void Watchdog::Entry::arm(Moment deadline) {
  State& all = state();
  bool is_next = false;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.is_running) {
      std::thread(&Watchdog::watch).detach();
      all.is_running = true;
    }
    deadline_ = deadline;
    next_ = all.first;
    if (next_ != nullptr) next_->previous_ = this;
    all.first = this;
    is_armed_ = true;
    is_next = deadline < all.wakes_at;
  }
  if (is_next) all.changed.notify_one();
}

void Watchdog::Entry::disarm() noexcept {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (is_armed_) all.remove(*this);
}

}  // namespace ounce::app
