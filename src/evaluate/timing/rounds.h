// Times several models in interleaved slots. Each round gives every model one slot of consecutive runs, in
// rotating order, so that disturbances affect all models alike.
//
// Speed-ups compare the CPU time of slots if runs use one thread: CPU time does not grow when other programs
// take the CPU. A slot has at least 20 ms of work, because the first runs after switching models have cold
// caches. On a busy machine a slot is interrupted many times, and each interruption leaves cold caches, which
// slow large models more than small ones. So the fast pieces of a slot are compared, not its total. Runs on
// several threads are compared by wall time, which is unreliable on a busy machine; such a speed-up is marked
// as not reliable.
//
//   const Rounds rounds = run_rounds({slot_of(original), slot_of(candidate)}, options);
//   const SpeedUp faster = speed_up(rounds, 0, 1);
#pragma once

#include <ounce/bench.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/executor.h"

namespace ounce::evaluate {

using runtime::SlotTimes;

// Speed-ups between these values count as no difference.
inline constexpr double kClearlyFaster = 1.05, kClearlySlower = 0.95;

// Runs a model `runs` times in a row.
using Slot = std::function<SlotTimes(std::uint64_t runs)>;

struct RoundOptions {
  double seconds = 2;       // of work for each model
  std::uint64_t calls = 0;  // if not 0: number of calls of each model, instead of `seconds`
  // Wall time in seconds, including the warm-up, after which no further round starts. 0: no limit.
  double deadline = 0;
  std::function<void(double share)> progress = [](double) {};
};

// Statistics of call times. Percentiles use an evenly spaced subset if there are many calls.
class CallTimes {
 public:
  void add(double seconds);
  Latency latency() const;

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;
  std::vector<double> kept_;
  std::uint64_t count_ = 0, stride_ = 1;
  double total_ = 0, least_ = 0;
};

double median(std::vector<double> values);  // `values` must not be empty

// The slots of one model.
struct ModelTimes {
  CallTimes calls;
  std::vector<double> slots;  // seconds per call in each round: CPU time if `has_cpu_time`, else wall time
  double wall_seconds = 0, cpu_seconds = 0, wait_seconds = 0;  // of all slots
  bool has_cpu_time = true, has_wait_time = true;

  void add(const SlotTimes& slot);
  // Factor by which runs took longer than on an idle machine. 1: undisturbed; 0: unknown.
  double load() const;
  Latency latency() const;
  double typical_call() const;  // seconds per call in the median slot
};

struct Rounds {
  std::vector<ModelTimes> models;
  std::uint64_t count = 0;

  double load() const;  // the largest load of all models
};

// Warms up the models and runs the rounds. Throws Error{kCancelled}.
Rounds run_rounds(const std::vector<Slot>& models, const RoundOptions& options);

// The speed of `other` relative to `base`: the median of the rounds' ratios, with a 95 % bootstrap interval.
SpeedUp speed_up(const Rounds& rounds, std::size_t base, std::size_t other);

// Reads the time of a run by op and by node from a profile written by ONNX Runtime: a list of events, in
// microseconds. Kernel events look like this:
//
//   {"cat": "Node", "name": "conv1_kernel_time", "ts": 812, "dur": 95, "args": {"op_name": "QLinearConv", …}}
//
// Profiles of LiteRT have the same form. Their "args" also name the delegate ("provider") and integer kernels
// ("is_integer"), and an event "delegation" has the numbers of operators. The time of a node with a body (If,
// Loop) includes the nodes inside; it is subtracted.
Profile read_profile(const std::filesystem::path& file);
Profile profile_of(std::string_view json);

// True for ops that multiply integers with weights, where a quantized model should spend its time.
bool is_integer_kernel(std::string_view op_type);

}  // namespace ounce::evaluate
