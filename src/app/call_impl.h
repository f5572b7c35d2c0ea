// What a Call holds: memory for the inputs, and a run that is bound to it.
#pragma once

#include <ounce/app/session.h>

#include <cstdlib>
#include <mutex>

#include "app/session_impl.h"
#include "app/watchdog.h"
#include "runtime/bound_run.h"

namespace ounce::app {

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

}  // namespace ounce::app
