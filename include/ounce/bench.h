// Who is faster, by how much, and how sure is that?
//
// All models run in one process, interleaved in short rounds, so that disturbances hit all of them alike.
// Speed-ups are compared round by round, by CPU time where a model runs on one thread. Cold start and memory
// come from a process of each model's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/data.h>
#include <ounce/load_memory.h>
#include <ounce/progress.h>
#include <ounce/runtime.h>

namespace ounce {

struct BenchOptions {
  RuntimeOptions runtime;
  DataOptions data;
  double seconds = 2;         // for each model and batch size
  std::uint64_t repeats = 0;  // calls of each model instead
  std::vector<std::uint64_t> batches = {1};
  double deadline = 0;       // wall seconds for all timing; completed rounds are kept; 0: none
  unsigned cold_starts = 3;  // processes of each model's own; 0: none, and no figure of memory
  bool profile = false;      // where the time goes, too: in runs of their own, at the first batch size
  Progress* progress = nullptr;
};

struct Latency {
  std::uint64_t calls = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, min = 0;  // seconds
  double cpu = 0;  // CPU seconds of a call, on average; 0: unknown, or several threads
  // What 0 %, 1 % … 100 % of the calls did not exceed, for a picture; empty without calls.
  std::vector<double> quantiles = {};
};

// Against the first model, at the same batch size. 2: twice as fast. With one thread this is a ratio of CPU
// times, which other programs hardly change; with several it is a ratio of wall times.
struct SpeedUp {
  static constexpr std::uint64_t kLeastRounds = 10;
  static constexpr double kBusyLoad = 1.1;
  // Ratios move between an idle and a busy machine, because other programs take cache and memory bandwidth as
  // well as CPU time. Beside busy loops they moved by less than 10 %, beside compilers by 29 % in 2 of some
  // 30 runs (bench/busy_machine.py; docs/reference/bench.md).
  static constexpr double kBusyError = 0.2;

  double ratio = 1, low = 1, high = 1;  // 95 % confidence
  std::uint64_t rounds = 0;             // that it rests on; fewer than kLeastRounds say nothing
  bool is_measurable =
      false;  // reliable, enough rounds, the interval leaves out 1, and the ratio is over 1 % off
  // Wall time over CPU time while timing: 1 on an idle machine, 0 unknown. From 1.1 on the machine counts as
  // busy, and the interval is wider by kBusyError on both sides.
  double load = 0;
  bool is_reliable = true;  // false: several threads on a busy machine, so the ratio means nothing
};

struct BatchResult {
  std::uint64_t batch = 1;
  Latency latency;
  double samples_per_second = 0;
  SpeedUp speed_up;
};

// Where the time of a run goes, as the runtime's own profile tells it. Ops are those that it really runs:
// fused, and in the layout of this machine.
struct NodeTime {
  std::string node, op_type;
  double seconds = 0;       // of a run: the median; without what nodes inside of it take
  bool is_integer = false;  // a kernel that multiplies integers
};
struct OpTime {
  std::string op_type;
  std::uint64_t nodes = 0;
  double seconds = 0;
};
struct Profile {
  std::uint64_t runs = 0;
  double seconds = 0;           // of all nodes
  double integer_share = 0;     // of these, in kernels that multiply integers: QLinearConv, QGemm …
  std::vector<OpTime> ops;      // the dearest first
  std::vector<NodeTime> nodes;  // likewise
  // Of a .tflite model: the operators of its main graph, how many of them XNNPACK runs, and its share of
  // `seconds`. The others run in the built-in kernels. 0: it is no such model.
  std::uint64_t operators = 0, delegated = 0;
  double delegated_share = 0;
};

struct BenchResult {
  std::filesystem::path model;
  std::uint64_t bytes = 0;        // model file and external data
  double load_seconds = 0;        // creating the session
  double first_seconds = 0;       // the first run
  double cold_start_seconds = 0;  // from the start of a process to its first result; best of cold_starts
  bool is_cache_dropped = false;  // the model's file had to come from the disk for that
  std::uint64_t peak_memory = 0;  // resident, of the process of its own
  std::optional<LoadMemory> load_memory;  // of that process; nothing where a system does not tell
  std::vector<BatchResult> batches;
  std::optional<Profile> profile;  // where it was asked for; never behind `remote`
};

struct BenchReport {
  std::string runtime;          // what ran the models: "ONNX Runtime 1.30.0 and LiteRT 2.3.0"
  std::string runtime_version;  // of the first model
  std::string cpu;              // whose kernels ran: "avx512 vnni"; empty behind `remote`
  unsigned threads = 1;
  bool is_generated = false;
  std::uint64_t rounds = 0;
  double load = 0;  // wall time over CPU time while timing, as in SpeedUp
  std::vector<BenchResult> models;
  std::vector<std::string> notes;
};

BenchReport bench(const std::vector<std::filesystem::path>& models, const BenchOptions& options);

}  // namespace ounce
