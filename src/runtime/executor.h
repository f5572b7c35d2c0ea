// Runs models in this process, isolated in a separate process, on another machine, or on another CPU. The
// table in executor.cpp maps kinds of models to runtimes.
//
// To add a kind of model: write a class that implements LocalExecutor (see ort_executor.cpp), add rows to the
// tables in executor.cpp and places.cpp (which finds the library), and list the new sources in
// cmake/runner_arm64.cmake and app/CMakeLists.txt.
#pragma once

#include <ounce/bench.h>
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

// The times of several consecutive runs (a slot): wall time of each run, CPU time of the whole slot and of
// its pieces.
//
//   const SlotTimes times = time_slot(20, is_single_threaded, [&] { bound.run(); });

struct SlotTimes {
  static constexpr double kPiece = 1e-4;  // wall seconds; reading the CPU clock takes 0.2 µs

  std::vector<double> calls;  // wall seconds of each run
  double cpu_seconds = 0;     // of all runs; 0: unknown, or the runs use several threads
  double wait_seconds = -1;   // time that threads of the process waited for a CPU; -1: unknown
  // CPU seconds per run in consecutive pieces of the slot. A piece is one run, or as many as take kPiece, so
  // that only few pieces are affected by cold caches after a preemption. Empty: unknown.
  std::vector<double> pieces = {};

  double wall_seconds() const { return std::accumulate(calls.begin(), calls.end(), 0.0); }
};

// Times consecutive runs. CPU time is measured only if runs stay on the calling thread
// (`is_single_threaded`), because only then it equals latency.
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
    // Each call begins where the last one ended, so that the time for reading the CPU clock, when the system
    // often interrupts a thread, is part of the slot.
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
  // The difference can be negative, because the time of threads that have ended is missing.
  if (wait >= 0) times.wait_seconds = std::max(0.0, process_wait_seconds() - wait);
  return times;
}

// The limits of a separate process.
struct Limits {
  std::uint64_t memory = 0;  // bytes of address space; 0: the machine's memory
  double seconds = 0;        // per load and per run; 0: no limit
};

using RemoteOptions = ounce::Remote;

// Settings for loading a model of any kind.
struct LoadSettings {
  unsigned threads = 1;                        // intra-op threads; 0: the runtime's default
  std::map<std::string, std::string> options;  // runtime-specific options
  std::filesystem::path
      profile;  // prefix of the names of profile files with the time of each node; empty: no profile
  // Maps the locations in the model to the actual files of external data, for a model whose files do not have
  // their final names yet.
  std::map<std::string, std::filesystem::path> external_data_paths;
};

LoadSettings settings_of(const RuntimeOptions& options);

struct ExecutorOptions {
  std::string library;  // ONNX Runtime: a path or a version; empty: the newest
  std::string litert;   // LiteRT: a path or a version; empty: the newest
  LoadSettings settings;
  std::optional<Limits> isolate;        // run in a separate process
  std::optional<RemoteOptions> remote;  // run on another machine, with these limits
  std::optional<MaskedCpu> masked;      // emulate an older CPU, in a separate process
  std::uint64_t bytes = 0;              // size of the model with its external data; 0: unknown
  std::shared_ptr<Runners> runners;     // a pool of processes to reuse

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
  // Known only for a process that was started for this model.
  virtual std::optional<LoadMemory> load_memory() const { return std::nullopt; }
};

// A model loaded into this process.
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
  // Sets the inputs; the views must stay valid until the last run with them. Throws Error{kBadInput} if a
  // type or a shape does not match the model.
  virtual void bind(std::span<const TensorView> inputs) = 0;
  virtual void run_bound() = 0;
  // The outputs of the last run.
  virtual std::span<const TensorView> results() = 0;
  // May be called from another thread: ends the current run and all later ones.
  virtual void stop() noexcept = 0;
  // True if runs stay on the calling thread.
  virtual bool is_single_threaded() const = 0;
  // Ends the profile of LoadSettings::profile and returns its file (JSON, see evaluate/timing/rounds.h).
  // Empty if nothing was profiled.
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

// Opens the runtime library for a kind of model, once per process, and returns its version. Throws Error{kIo}
// if the file does not exist, Error{kUnsupported} for another library or a version that is too old.
std::string open_library(model::ModelKind kind, const std::filesystem::path& library);
std::unique_ptr<LocalExecutor> load_here(const LoadRequest& request);

// The files of the model and its external data, by the locations in the model.
using ModelFiles = std::map<std::string, io::MappedFile>;
ModelFiles files_of(model::ModelKind kind, const std::filesystem::path& model, const LoadSettings& settings);

// The kind of a model to run. Throws Error{kUnsupported} if this build has no runtime for it.
model::ModelKind kind_to_run(const std::filesystem::path& model);

// Loads a model with the runtime for its kind. Throws Error{kUnsupported} for an unsupported kind, the errors
// of find_library() and of the runtime, and, for separate processes, Error{kBadInput} if the process crashes,
// Error{kTimeout}, and Error{kMemory} if it runs out of memory.
std::unique_ptr<Executor> load(const std::filesystem::path& model, const ExecutorOptions& options);

// Ways to run models as on another CPU: older x64 CPUs by masking CPUID (masked_cpu.h), others in an
// emulator.
//
//   avx2      x64 without AVX-512 and VNNI        masked; else qemu-x86_64
//   avx512    x64 with AVX-512, without VNNI      masked
//   arm64     64-bit ARM                          qemu-aarch64, ounce-runner-arm64 and an ONNX Runtime for it
struct CpuAccess {
  ExecutorOptions options;   // for running models on that CPU
  std::string how;           // for messages: "emulated by masking CPUID", "qemu-aarch64"
  bool is_emulated = false;  // by an emulator, which is slow
  bool is_this_one = false;  // it is the CPU of this machine
};

const std::vector<std::string>& other_cpu_names();

// Finds the way to run models as on a CPU. `options`: those for running on this CPU; the same release of ONNX
// Runtime is used if it is installed. Throws Error{kUsage} for an unknown CPU, Error{kUnsupported} if this
// machine cannot emulate it.
CpuAccess on_cpu(const std::string& name, const ExecutorOptions& options);

}  // namespace ounce::runtime
