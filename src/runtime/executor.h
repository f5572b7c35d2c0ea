// Runs a model: in this process, in a separate process that isolates it, on another machine, or on another
// CPU. The table in executor.cpp is the one place that knows which runtime loads which kind of model.
//
// To add a kind of model: a class that implements LocalExecutor (ort_executor.cpp is the example), a row of
// the table in executor.cpp, a row of the table in places.cpp, which finds the library, and the new sources
// in cmake/runner_arm64.cmake and app/CMakeLists.txt, which list those of the runner and of the app.
#pragma once

#include <ounce/load_memory.h>
#include <ounce/runtime.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/machine.h"
#include "data/tensor.h"
#include "io/mapped_file.h"
#include "model/model_file.h"
#include "runtime/child_process.h"
#include "runtime/masked_cpu.h"

namespace ounce::runtime {

using data::Tensor;
using data::TensorView;
using data::ValueDescription;

// The times of several consecutive runs, a "slot": wall time of each run, CPU time of all of them and of
// pieces.
//
//   const SlotTimes times = time_slot(20, is_single_threaded, [&] { bound.run(); });

struct SlotTimes {
  static constexpr double kPiece = 1e-4;  // wall seconds; reading the CPU clock takes .2 µs

  std::vector<double> calls;  // wall seconds of each run
  double cpu_seconds = 0;     // of all runs; 0: unknown, or the runs use several threads
  double wait_seconds = -1;   // in which threads of the process were ready and had no CPU; -1: unknown
  // CPU seconds per run of consecutive pieces of the slot: of one run, or of as many as take kPiece. Empty:
  // unknown. Cold caches after a preemption are in few of them.
  std::vector<double> pieces = {};

  double wall_seconds() const { return std::accumulate(calls.begin(), calls.end(), 0.0); }
};

// CPU time is latency only for a run that stays on the calling thread.
template <class Run>
SlotTimes time_slot(std::uint64_t runs, bool is_single_threaded, const Run& run) {
  SlotTimes times;
  times.calls.reserve(runs);
  const double start = thread_cpu_seconds();
  const double wait = is_single_threaded ? -1 : process_wait_seconds();
  double piece_start = start, piece_wall = 0, last = 0;
  std::uint64_t piece_runs = 0;
  const Stopwatch time;
  for (; runs > 0; --runs) {
    run();
    // Each call begins where the last one ended: the system often interrupts a thread as it reads the CPU
    // clock, and that time belongs to the slot.
    const double end = time.seconds();
    times.calls.push_back(end - last);
    last = end;
    piece_wall += times.calls.back();
    ++piece_runs;
    if (!is_single_threaded || (piece_wall < SlotTimes::kPiece && runs != 1)) continue;
    const double now = thread_cpu_seconds();
    if (piece_wall >= SlotTimes::kPiece || times.pieces.empty())  // the last piece can be too short
      times.pieces.push_back((now - piece_start) / static_cast<double>(piece_runs));
    piece_start = now;
    piece_wall = 0;
    piece_runs = 0;
  }
  if (is_single_threaded) times.cpu_seconds = thread_cpu_seconds() - start;
  // The time of a thread that ended in between is missing, so the difference can be negative.
  if (wait >= 0) times.wait_seconds = std::max(0.0, process_wait_seconds() - wait);
  return times;
}

// The limits of a separate process.
struct Limits {
  std::uint64_t memory = 0;  // bytes of address space; 0: as much as the machine has
  double seconds = 0;        // for loading, and for each run; 0: no limit
};

using RemoteOptions = ounce::Remote;

// How a runtime loads a model, whatever its kind.
struct LoadSettings {
  unsigned threads = 1;                        // inside an op; 0: as many as the runtime likes
  std::map<std::string, std::string> options;  // of one runtime, by its own names
  std::filesystem::path
      profile;  // how the names of files begin that tell how long each node took; empty: none
  // Where external data really is, by the location that the model names: for a model whose files have no
  // names yet.
  std::map<std::string, std::filesystem::path> external_data_paths;
};

LoadSettings settings_of(const RuntimeOptions& options);

struct ExecutorOptions {
  std::string library;  // of ONNX Runtime: a path or a version; empty: the newest
  std::string litert;   // the same for LiteRT
  LoadSettings settings;
  std::optional<Limits> isolate;        // run in a separate process
  std::optional<RemoteOptions> remote;  // run on another machine, with these limits
  std::optional<MaskedCpu> masked;      // emulate an older CPU, in a separate process
  std::uint64_t bytes = 0;              // of the model with its external data; 0: unknown
  std::shared_ptr<Runners> runners;     // a pool of such processes

  const std::string& library_of(model::ModelKind kind) const {
    return kind == model::ModelKind::kTflite ? litert : library;
  }
};

class Executor {
 public:
  virtual ~Executor() = default;

  virtual const std::vector<ValueDescription>& inputs() const = 0;
  virtual const std::vector<ValueDescription>& outputs() const = 0;
  virtual const std::string& library_version() const = 0;
  // Runs once, with inputs in the order of inputs(). The views are valid until the next run.
  virtual std::span<const TensorView> run(std::span<const TensorView> inputs) = 0;
  // Runs several times in a row, without outputs.
  virtual SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) {
    return time_slot(runs, false, [&] { run(inputs); });
  }
  // Known for a process that was started for this model.
  virtual std::optional<LoadMemory> load_memory() const { return std::nullopt; }
};

// A model in this process, step by step.
//
//   LoadRequest request{model::ModelKind::kOnnx, library, "model.onnx", {}};
//   const std::string version = open_library(request.kind, request.library);
//   std::unique_ptr<LocalExecutor> model = load_here(request);
//   model->bind(inputs);
//   model->run_bound();

struct LoadRequest {
  model::ModelKind kind = model::ModelKind::kOnnx;
  std::string library, model;  // files
  LoadSettings settings;
};

class LocalExecutor : public Executor {
 public:
  // Throws Error{kBadInput} when a type or a shape is not what the model takes. The views have to stay until
  // the last run with them.
  virtual void bind(std::span<const TensorView> inputs) = 0;
  virtual void run_bound() = 0;
  // Views of what the last run gave.
  virtual std::span<const TensorView> results() = 0;
  // From another thread: ends the run that goes on, and all that follow.
  virtual void stop() noexcept = 0;
  // Does a run stay on the calling thread?
  virtual bool is_single_threaded() const = 0;
  // Ends what LoadSettings::profile began, and says which file holds it: JSON that evaluate/timing/rounds.h
  // reads. Empty when nothing was profiled.
  virtual std::filesystem::path end_profile() = 0;

  std::span<const TensorView> run(std::span<const TensorView> inputs) final {
    bind(inputs);
    run_bound();
    return results();
  }
  SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) final {
    bind(inputs);
    return time_slot(runs, is_single_threaded(), [this] { run_bound(); });
  }
};

// Opens the library of a kind, once in this process, and gives its version. Throws Error{kIo} when there is
// none at the path, and Error{kUnsupported} when it is another one or too old.
std::string open_library(model::ModelKind kind, const std::filesystem::path& library);
std::unique_ptr<LocalExecutor> load_here(const LoadRequest& request);

// The model and its external data, by the names that the model uses.
using ModelFiles = std::map<std::string, io::MappedFile>;
ModelFiles files_of(model::ModelKind kind, const std::filesystem::path& model, const LoadSettings& settings);

// The kind of a model that is to be run. Throws Error{kUnsupported} for one that has no runtime here.
model::ModelKind kind_to_run(const std::filesystem::path& model);

// By the kind of the model file. Throws Error{kUnsupported} for a kind that has no runtime here, and what
// find_library() and its runtime throw; also Error{kBadInput} when the process of its own dies,
// Error{kTimeout}, and Error{kMemory} when it gets none.
std::unique_ptr<Executor> load(const std::filesystem::path& model, const ExecutorOptions& options);

// Access to other CPUs from this machine: older ones by masking CPUID (masked_cpu.h), others by an emulator.
//
//   avx2      x64 without AVX-512 and VNNI        masked; else qemu-x86_64
//   avx512    x64 with AVX-512, without VNNI      masked
//   arm64     64-bit ARM                          qemu-aarch64, ounce-runner-arm64 and an ONNX Runtime for it
struct CpuAccess {
  ExecutorOptions options;   // for running models there
  std::string how;           // for messages: "shown by this CPU", "qemu-aarch64"
  bool is_emulated = false;  // and therefore slow
  bool is_this_one = false;  // the CPU of this machine
};

const std::vector<std::string>& other_cpu_names();

// Throws Error{kUsage} for an unknown CPU, Error{kUnsupported} when its programs cannot run here. `options`
// say how models run here; the release of ONNX Runtime is the same there if it is installed.
CpuAccess on_cpu(const std::string& name, const ExecutorOptions& options);

}  // namespace ounce::runtime
