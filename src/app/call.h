#pragma once

#include <ounce/app/inputs.h>
#include <ounce/app/session.h>

#include <chrono>
#include <cstdlib>
#include <mutex>

#include "app/session.h"
#include "data/tensor.h"
#include "runtime/ort/bound_run.h"

namespace ounce::app {

// Ends what takes too long, for all calls of the process, in one thread that starts with the first timeout.
//
//   Watchdog::Entry entry(stop, this);
//   entry.arm(deadline);  …  entry.disarm();
//
// To arm and to disarm allocates nothing, and wakes nobody unless the deadline is the next one of all.

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

// What a Call holds: memory for the inputs, and a run that is bound to it.

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

struct Call::Impl {
  explicit Impl(std::shared_ptr<const Session::Impl> model);

  // Why a run that goes on is to end.
  enum class End { kNone, kCancelled, kTimeout };
  void stop(End why) noexcept;

  std::shared_ptr<const Session::Impl> model;
  std::unique_ptr<std::byte[], FreeMemory> memory;
  std::vector<data::TensorView> inputs;       // of it
  std::optional<runtime::BoundRun> run;       // looks into the model
  std::span<const data::TensorView> outputs;  // of the last run; empty before

  std::mutex mutex;
  bool is_running = false;
  End end = End::kNone;
  Watchdog::Entry timer;
};

// Pixels of any layout as an upright picture of red, green and blue.

// uint8 [height, width, 3], or [height, width] of grey. Throws Failure{kUsage}.
data::Tensor upright(const Pixels& pixels);

}  // namespace ounce::app
