// Ends what takes too long, for all calls of the process, in one thread that starts with the first timeout.
//
//   Watchdog::Entry entry(stop, this);
//   entry.arm(deadline);  …  entry.disarm();
//
// To arm and to disarm allocates nothing, and wakes nobody unless the deadline is the next one of all.
#pragma once

#include <chrono>

namespace ounce::app {

class Watchdog {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  class Entry {
   public:
    // `late` is called in the watchdog's thread, at most once for each arm(), and never after disarm().
    Entry(void (*late)(void*), void* user) : late_(late), user_(user) {}
    ~Entry() { disarm(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    void arm(Moment deadline);  // throws std::system_error when no thread can be started
    void disarm() noexcept;

   private:
    friend class Watchdog;
    void (*late_)(void*);
    void* user_;
    Moment deadline_{};
    Entry* previous_ = nullptr;
    Entry* next_ = nullptr;
    bool is_armed_ = false;
  };

 private:
  struct State;
  static State& state();
  static void watch();
};

}  // namespace ounce::app
