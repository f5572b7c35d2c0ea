// Something that runs a model: in this process, in one of its own where it can do no harm, or on another
// machine.
#pragma once

#include <ounce/load_memory.h>
#include <ounce/runtime.h>

#include <memory>
#include <optional>
#include <span>

#include "runtime/masked_cpu.h"
#include "runtime/runners.h"
#include "runtime/session.h"
#include "runtime/slot_times.h"

namespace ounce::runtime {

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

// Throws what Library::find and Session throw; also Error{kBadInput} when the process of its own dies,
// Error{kTimeout}, and Error{kMemory} when it gets none.
std::unique_ptr<Executor> load(const std::filesystem::path& model, const ExecutorOptions& options);

}  // namespace ounce::runtime
