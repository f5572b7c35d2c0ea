// Times several models against each other. Each round gives every model one slot of consecutive runs, in an
// order that rotates, so that a disturbance hits all of them.
//
// Speed-ups compare slots by their CPU time where a run stays on one thread: CPU time does not grow when
// other programs take the CPU. A slot holds at least 20 ms of work, because the first runs after a change
// find cold caches. On a busy machine a slot is interrupted many times, and after each interruption caches
// are cold, which slows large models more than small ones: the fast pieces of a slot count, not its total.
// Runs on several threads are compared by wall time, which means nothing on a busy machine; such a speed-up
// is marked as not reliable.
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

// Speed-ups between these are too small to decide anything.
inline constexpr double kClearlyFaster = 1.05, kClearlySlower = 0.95;

// Runs a model so many times in a row.
using Slot = std::function<SlotTimes(std::uint64_t runs)>;

struct RoundOptions {
  double seconds = 2;       // of work for each model, in all
  std::uint64_t calls = 0;  // for each model instead
  // Wall seconds, warm-up included: the round in which they end is the last one. 0: none.
  double deadline = 0;
  std::function<void(double share)> progress = [](double) {};
};

// The times of calls. All count; of many, evenly spread ones are kept for the percentiles.
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

double median(std::vector<double> values);  // of one at least

// The slots of one model.
struct ModelTimes {
  CallTimes calls;
  std::vector<double>
      slots;  // seconds per call of each round's slot: CPU time if `has_cpu_time`, else wall time
  double wall_seconds = 0, cpu_seconds = 0, wait_seconds = 0;  // of all slots
  bool has_cpu_time = true, has_wait_time = true;

  void add(const SlotTimes& slot);
  // How much longer runs took than on an idle machine: 1 undisturbed, 0 unknown.
  double load() const;
  Latency latency() const;
  double typical_call() const;  // the median slot
};

struct Rounds {
  std::vector<ModelTimes> models;
  std::uint64_t count = 0;

  double load() const;  // of the model that was disturbed the most
};

// Warms up first. Throws Error{kCancelled}.
Rounds run_rounds(const std::vector<Slot>& models, const RoundOptions& options);

// How much faster `other` is than `base`: the median of the rounds' ratios, with a 95 % bootstrap interval.
SpeedUp speed_up(const Rounds& rounds, std::size_t base, std::size_t other);

// The time of a run by op and by node, from a profile that a session of ONNX Runtime wrote: a list of events,
// in microseconds. Those of kernels look like
//
//   {"cat": "Node", "name": "conv1_kernel_time", "ts": 812, "dur": 95, "args": {"op_name": "QLinearConv", …}}
//
// LiteRT's operators have the same form: "args" also says who ran an operator ("provider") and whether it
// multiplies integers ("is_integer"), and an event "delegation" has the numbers of operators. A node with a
// body (If, Loop) lasts as long as the nodes inside, whose time is subtracted.
Profile read_profile(const std::filesystem::path& file);
Profile profile_of(std::string_view json);

// True for ops that multiply integers with weights, where a quantized model should spend its time.
bool is_integer_kernel(std::string_view op_type);

}  // namespace ounce::evaluate
