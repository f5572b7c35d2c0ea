// Something that runs a model: in this process, in one of its own where it can do no harm, or on another
// machine.
#pragma once

#include <ounce/load_memory.h>
#include <ounce/runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/machine.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/session.h"
#include "runtime/runners.h"

namespace ounce::runtime {

// The times of several runs in a row, a "slot": wall time of each run, and CPU time of all of them.
//
//   const SlotTimes times = time_slot(20, is_single_threaded, [&] { bound.run(); });

struct SlotTimes {
  std::vector<double> calls;  // wall seconds of each run
  double cpu_seconds = 0;     // of all runs; 0: unknown, or the runs use several threads
  double wait_seconds = -1;   // that the threads of the process were ready to run and had no CPU; -1: unknown

  double wall_seconds() const { return std::accumulate(calls.begin(), calls.end(), 0.0); }
};

// CPU time is latency only for a run that stays on the calling thread.
template <class Run>
SlotTimes time_slot(std::uint64_t runs, bool is_single_threaded, const Run& run) {
  SlotTimes times;
  times.calls.reserve(runs);
  const double cpu = thread_cpu_seconds();
  const double wait = is_single_threaded ? -1 : process_wait_seconds();
  for (; runs > 0; --runs) {
    const Stopwatch time;
    run();
    times.calls.push_back(time.seconds());
  }
  if (is_single_threaded) times.cpu_seconds = thread_cpu_seconds() - cpu;
  // A thread that ended in between takes its share with it, so the difference can be negative.
  if (wait >= 0) times.wait_seconds = std::max(0.0, process_wait_seconds() - wait);
  return times;
}

// What a process of its own may take.
struct Limits {
  std::uint64_t memory = 0;  // bytes of address space; 0: as much as the machine has
  double seconds = 0;        // for loading, and for each run; 0: no limit
};

using RemoteOptions = ounce::Remote;

struct ExecutorOptions {
  std::string library;  // a path or a version; empty: the newest
  SessionOptions session;
  std::optional<Limits> isolate;        // a process of its own
  std::optional<RemoteOptions> remote;  // another machine; keeps the limits
  std::optional<MaskedCpu> masked;      // an older CPU, in a process of its own
  std::uint64_t bytes = 0;              // of the model with its external data, if somebody knows
  std::shared_ptr<Runners> runners;     // to take such a process from, and to give it back to
};

class Executor {
 public:
  virtual ~Executor() = default;

  virtual const std::vector<ValueDescription>& inputs() const = 0;
  virtual const std::vector<ValueDescription>& outputs() const = 0;
  virtual const std::string& library_version() const = 0;
  // Runs once, with inputs in the order of inputs(). The views hold until the next run.
  virtual std::span<const TensorView> run(std::span<const TensorView> inputs) = 0;
  // Runs several times in a row, without outputs.
  virtual SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) {
    return time_slot(runs, false, [&] { run(inputs); });
  }
  // Of a process that was new for this model; nothing where nobody knows.
  virtual std::optional<LoadMemory> load_memory() const { return std::nullopt; }
};

// By the kind of the model file. Throws Error{kUnsupported} for a kind that has no runtime here, and what
// Library::find and Session throw; also Error{kBadInput} when the process of its own dies,
// Error{kTimeout}, and Error{kMemory} when it gets none.
std::unique_ptr<Executor> load(const std::filesystem::path& model, const ExecutorOptions& options);

}  // namespace ounce::runtime
