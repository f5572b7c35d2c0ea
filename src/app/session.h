// Implementation of the app's Session and Call: the loaded model, the memory of its inputs, and the timeouts
// of runs.
#pragma once

#include <ounce/app.hpp>
#include <ounce/data.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/loaded_model.h"
#include "app/model_bytes.h"
#include "app/unpacked_file.h"
#include "data/tensor.h"

namespace ounce::app {

// The loaded model and the owners of its memory.
struct Session::Impl {
  // The session may refer to these: they are destroyed after it.
  std::optional<ModelBytes> bytes;
  std::optional<UnpackedFile> unpacked;
  std::unique_ptr<LoadedModel> session;

  // True if a file of the session was truncated: then its outputs are invalid.
  bool was_cut() const noexcept {
    return (bytes && bytes->was_cut()) || (unpacked && unpacked->file.was_cut()) ||
           (session && session->was_cut());
  }

  std::vector<Value> inputs, outputs;
  std::optional<Contract> contract;
  Facts facts;
};

// Enforces the timeouts of all calls of the process, in one thread that starts with the first timeout.
//
//   Watchdog::Entry entry(stop, this);
//   entry.arm(deadline);
//   run();
//   entry.disarm();
//
// Arming and disarming do not allocate, and wake the thread only if the earliest deadline changes.
class Watchdog {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  class Entry {
   public:
    // `late` is called in the watchdog's thread, at most once per arm(), and never after disarm().
    Entry(void (*late)(void*), void* user) : late_(late), user_(user) {}
    ~Entry() { disarm(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    void arm(Moment deadline);  // throws std::system_error if the thread cannot be started
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

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};

// The memory of a call's inputs, and the run that is bound to it.
struct Call::Impl {
  explicit Impl(std::shared_ptr<const Session::Impl> model);

  // Why a run is ended early.
  enum class End { kNone, kCancelled, kTimeout };
  void stop(End why) noexcept;

  std::shared_ptr<const Session::Impl> model;
  std::unique_ptr<std::byte[], FreeMemory> memory;
  std::vector<data::TensorView> inputs;       // views of `memory`
  std::unique_ptr<ModelRun> run;              // refers to the model
  std::span<const data::TensorView> outputs;  // of the last run; empty before the first

  std::mutex mutex;
  bool is_running = false;
  End end = End::kNone;
  Watchdog::Entry timer;
};

// Converts pixels of any format to an upright image: uint8 [height, width, 3] in RGB, or [height, width] for
// gray. Throws Failure{kUsage}.
data::Tensor upright(const Pixels& pixels);

}  // namespace ounce::app
