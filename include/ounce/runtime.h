// How models are run, the progress of a call, and other CPUs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/error.h>

namespace ounce {

// == Runtimes ==
//
// How models are run: the runtime library and its settings, in this process, in a separate process, or on
// another machine.

enum class OptimizationLevel {
  kNone,
  kBasic,     // constants are folded from here on
  kExtended,  // nodes are fused
  kAll,       // layouts are changed to those of this CPU
};
template <>
struct NamesOf<OptimizationLevel> {
  static constexpr Named<OptimizationLevel> kAll[] = {{OptimizationLevel::kNone, "none"},
                                                      {OptimizationLevel::kBasic, "basic"},
                                                      {OptimizationLevel::kExtended, "extended"},
                                                      {OptimizationLevel::kAll, "all"}};
};

// A separate process for a model, so that a crash of the model is an error of the call.
struct Isolation {
  std::uint64_t memory = 0;  // limit of the address space in bytes; 0: the memory of the machine
  double seconds = 120;      // limit for loading (plus a second per 10 MB), and for each run; 0: no limit
};

// Another machine, or another architecture in an emulator.
//
// With `via`, files are sent to the machine by commands that this prefix runs in its shell ("ssh board", "adb
// shell", "docker exec -i box sh -c"). The runner and the library stay in `folder`; later runs compare their
// digests and do not send them again. Models and data are removed at the end. Without `via`, the launcher
// starts the runner on this machine, for example in an emulator.
struct Remote {
  std::string via;
  std::string launcher;          // command before the runner: "qemu-aarch64 -L /usr/aarch64-linux-gnu"
  std::filesystem::path runner;  // local file for that machine; empty: ounce-runner or ounce-runner-arm64
  std::string library;   // local file for that machine, or a version; empty: the version of RuntimeOptions,
                         // else the newest for that machine
  std::string litert;    // the same for LiteRT
  std::string folder;    // on that machine; empty: a folder in /data/local/tmp, TMPDIR or /tmp
  bool keep = false;     // also keep models there, so that they are not sent again
  double seconds = 600;  // limit for each reply and for sending each file, in addition to those of Isolation
};

struct RuntimeOptions {
  std::string library;  // ONNX Runtime: a path, or a version such as "1.22.0"; empty: the newest
  std::string litert;   // LiteRT, for .tflite models: a path, or a version such as "2.3.0"; empty: the newest
  unsigned threads = 1;          // inside an op; 0: the runtime decides
  unsigned threads_between = 1;  // ops that run in parallel
  OptimizationLevel optimization = OptimizationLevel::kAll;
  std::map<std::string, std::string> config;       // session entries such as session.disable_quant_qdq
  std::optional<Isolation> isolate = Isolation{};  // unset: run models in this process, without protection
  std::optional<Remote> remote = std::nullopt;
};

// Returns the installed versions of ONNX Runtime, newest first: those of ./setup, else the library next to
// the program or in the Python package of its environment, else the library of the system. A library without
// a version is listed by its file name.
std::vector<std::string> installed_runtimes();

// == Progress ==
//
// Shows the progress of a call and stops it. Use one Progress object per call.
//
//   ounce::Progress progress;
//   progress.stop_after(std::chrono::minutes(5));
//   options.progress = &progress;
//   ounce::tune("model.onnx", "model.tuned.onnx", options);   // another thread may call progress.stop()
//
// A stopped call throws Error{kCancelled} and leaves no unfinished files; tune() keeps the best result so
// far. Other calls, in this thread or another, continue.

class Progress {
 public:
  // Updated during the call; other threads may read them.
  std::atomic<const char*> stage{""};
  std::atomic<std::uint64_t> done{0}, total{0};  // of the stage; total 0: unknown
  std::atomic<unsigned> step{0}, steps{0};       // the stage as a step of the call, from 1; 0: unknown
  // The best result so far, as a number with a unit such as " dB"; meaningless while the unit is empty.
  std::atomic<double> best{0};
  std::atomic<const char*> best_unit{""};

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

// == Other CPUs ==
//
// Compares the outputs of a model on other CPUs with those on this CPU.
//
// INT8 results differ between CPUs: on x86 without VNNI, sums of 8-bit products may saturate. Models are
// therefore also run on emulated CPUs: an older x86 CPU by masking CPUID features of this one or by
// qemu-x86_64, arm64 by qemu-aarch64.

struct CpuComparison {
  std::string cpu;              // "avx2", "avx512", "arm64"
  std::string how;              // method, such as "qemu-aarch64"; empty: cannot emulate
  std::string runtime_version;  // on the other CPU
  std::string why_not;          // why it was not run, or how it failed
  std::uint64_t samples = 0;
  // SQNR of the model on the other CPU relative to this CPU; infinite if bit-identical. Predictions (top-1 of
  // outputs with classes), and changed predictions.
  double sqnr_db = 0;
  std::uint64_t answers = 0, flips = 0;
  // The same for the original model, which shows the effect of FP32 rounding alone.
  double reference_sqnr_db = 0;
  std::uint64_t reference_flips = 0;

  bool is_run() const { return samples != 0; }
  // Accepts 40 dB, or 6 dB less than the original if that differs more. Changed predictions do not count,
  // because a difference in the last bit of a float can move a quantized value and swap nearly equal classes.
  bool is_same() const {
    const bool differs = reference_sqnr_db > 0 && reference_sqnr_db < 46;
    return is_run() && sqnr_db >= (differs ? reference_sqnr_db - 6 : 40);
  }
};

// Returns the CPUs that can be named: "avx2", "avx512", "arm64".
std::vector<std::string> known_cpus();

// Returns the CPUs with different INT8 arithmetic that this machine can emulate: "avx2", "arm64".
std::vector<std::string> other_cpus();

// Returns the instruction set of this CPU: "avx512 vnni", "avx2 vnni", "avx512", "avx2", "sse", "arm64".
std::string this_cpu();

}  // namespace ounce
