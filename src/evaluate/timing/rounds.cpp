#include "evaluate/timing/rounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/cancel.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "evaluate/statistics/certainty.h"
#include "io/mapped_file.h"
#include "ops/op_info.h"

namespace ounce::evaluate {
namespace {

constexpr double kSlot =
    0.02;  // seconds of work in a slot, so that its start with cold caches hardly matters
constexpr double kWarmUp = 0.1;          // seconds
constexpr std::uint64_t kWarmCalls = 3;  // at least
constexpr std::uint64_t kLeastRounds = 10, kMostRoundsOfCalls = 100;
constexpr double kNoticeable = 0.01;

// A slot is measured by this quantile of its pieces, from the fastest. With 8 other busy processes, the
// median call of a text classifier took 35 % more time than on an idle machine, and the calls at this
// quantile 8 % (bench/busy_machine.py, agnews).
constexpr double kUndisturbed = 0.1;

// The CPU time of an undisturbed call if known, else wall time.
double seconds_per_call(const SlotTimes& slot) {
  if (!slot.pieces.empty()) {
    std::vector<double> pieces = slot.pieces;
    const auto place =
        pieces.begin() + static_cast<std::ptrdiff_t>(kUndisturbed * static_cast<double>(pieces.size()));
    std::nth_element(pieces.begin(), place, pieces.end());
    return *place;
  }
  const double seconds = slot.cpu_seconds > 0 ? slot.cpu_seconds : slot.wall_seconds();
  return seconds / static_cast<double>(std::max<std::size_t>(1, slot.calls.size()));
}

struct CallCost {
  double seconds = 1e-7;  // measured time of the fastest call
  double cost = 0;        // wall time on this machine, which is longer for a remote model
};

// Warms up, and returns the cost of the fastest call.
CallCost warm_up(const Slot& model) {
  CallCost best;
  double total = 0;
  for (std::uint64_t i = 0; i < kWarmCalls || total < kWarmUp; ++i) {
    throw_if_cancelled();
    const Stopwatch time;
    const SlotTimes slot = model(1);
    const double seconds = std::max(seconds_per_call(slot), 1e-7);
    const double cost = std::max(slot.wall_seconds(), time.seconds());
    best.seconds = i == 0 ? seconds : std::min(best.seconds, seconds);
    best.cost = i == 0 ? cost : std::min(best.cost, cost);
    total += cost;
  }
  return best;
}

// The number of rounds, and the number of calls of each model in a round.
class Schedule {
 public:
  Schedule(const std::vector<CallCost>& costs, const RoundOptions& options) : calls_(options.calls) {
    double longest = 0;
    for (const CallCost& cost : costs) {
      in_slot_.push_back(static_cast<std::uint64_t>(std::ceil(kSlot / cost.seconds)));
      longest = std::max(longest, static_cast<double>(in_slot_.back()) * cost.cost);
    }
    if (calls_ == 0) {
      rounds_ = std::max(kLeastRounds, static_cast<std::uint64_t>(options.seconds / longest));
      return;
    }
    // Full slots if there are enough calls for the minimum number of rounds.
    std::uint64_t full = calls_;
    for (const std::uint64_t calls : in_slot_) full = std::min(full, calls_ / std::min(calls, calls_));
    rounds_ = std::min({calls_, kMostRoundsOfCalls, std::max(kLeastRounds, full)});
  }

  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t calls_in(std::uint64_t round, std::size_t model) const {
    return calls_ == 0 ? in_slot_[model] : calls_ * (round + 1) / rounds_ - calls_ * round / rounds_;
  }

 private:
  std::uint64_t calls_ = 0, rounds_ = 0;
  std::vector<std::uint64_t> in_slot_;
};

}  // namespace

double median(std::vector<double> values) {
  const auto middle_place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle_place, values.end());
  return *middle_place;
}

void ModelTimes::add(const SlotTimes& slot) {
  for (const double seconds : slot.calls) calls.add(seconds);
  slots.push_back(seconds_per_call(slot));
  wall_seconds += slot.wall_seconds();
  cpu_seconds += slot.cpu_seconds;
  wait_seconds += std::max(0.0, slot.wait_seconds);
  has_cpu_time = has_cpu_time && slot.cpu_seconds > 0;
  has_wait_time = has_wait_time && slot.wait_seconds >= 0;
}

double ModelTimes::load() const {
  if (wall_seconds <= 0) return 0;
  if (has_cpu_time) return std::max(1.0, wall_seconds / cpu_seconds);
  return has_wait_time ? 1 + wait_seconds / wall_seconds : 0;
}

Latency ModelTimes::latency() const {
  Latency latency = calls.latency();
  if (has_cpu_time && latency.calls != 0) latency.cpu = cpu_seconds / static_cast<double>(latency.calls);
  return latency;
}

double ModelTimes::typical_call() const { return slots.empty() ? 0 : median(slots); }

double Rounds::load() const {
  double most = 0;
  for (const ModelTimes& model : models) most = std::max(most, model.load());
  return most;
}

Rounds run_rounds(const std::vector<Slot>& models, const RoundOptions& options) {
  const Stopwatch time;
  std::vector<CallCost> costs;
  for (const Slot& model : models) costs.push_back(warm_up(model));
  const Schedule schedule(costs, options);
  Rounds result;
  result.models.resize(models.size());
  for (std::uint64_t round = 0; round < schedule.rounds(); ++round) {
    throw_if_cancelled();
    for (std::size_t k = 0; k < models.size(); ++k) {
      const std::size_t i = (k + round) % models.size();
      result.models[i].add(models[i](schedule.calls_in(round, i)));
    }
    ++result.count;
    options.progress(static_cast<double>(round + 1) / static_cast<double>(schedule.rounds()));
    if (options.deadline > 0 && time.seconds() >= options.deadline) break;
  }
  return result;
}

void CallTimes::add(double seconds) {
  total_ += seconds;
  least_ = count_ == 0 ? seconds : std::min(least_, seconds);
  if (count_++ % stride_ != 0) return;
  if (kept_.size() == kMostKept) {
    // Drop every second kept time, and keep only every second one from now on.
    for (std::size_t i = 0; i < kept_.size() / 2; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kept_.size() / 2);
    stride_ *= 2;
    if ((count_ - 1) % stride_ != 0) return;
  }
  kept_.push_back(seconds);
}

Latency CallTimes::latency() const {
  Latency latency;
  if (kept_.empty()) return latency;
  std::vector<double> sorted = kept_;
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    const auto place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
    return sorted[static_cast<std::size_t>(std::max(place, 0.0))];
  };
  latency.calls = count_;
  latency.mean = total_ / static_cast<double>(count_);
  latency.p50 = at(0.50);
  latency.p90 = at(0.90);
  latency.p99 = at(0.99);
  latency.min = least_;
  for (int percent = 0; percent <= 100; ++percent) latency.quantiles.push_back(at(percent / 100.0));
  return latency;
}

SpeedUp speed_up(const Rounds& rounds, std::size_t base, std::size_t other) {
  const ModelTimes &before = rounds.models[base], &after = rounds.models[other];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(before.slots.size(), after.slots.size()); ++i)
    ratios.push_back(before.slots[i] / after.slots[i]);
  if (ratios.empty()) return {};
  SpeedUp result;
  result.ratio = median(ratios);
  result.load = std::max(before.load(), after.load());
  // In each replica every round occurs a Poisson(1) number of times.
  std::vector<std::vector<double>> draws(kReplicas);
  std::array<std::uint8_t, kReplicas> weights{};
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    draw_weights(i, weights);
    for (std::size_t k = 0; k < kReplicas; ++k) draws[k].insert(draws[k].end(), weights[k], ratios[i]);
  }
  std::vector<double> medians;
  for (std::vector<double>& draw : draws) {
    if (!draw.empty()) medians.push_back(median(std::move(draw)));
  }
  const Interval interval = middle(std::move(medians));
  const double error = result.load > SpeedUp::kBusyLoad ? SpeedUp::kBusyError : 0;
  result.low = interval.low * (1 - error);
  result.high = interval.high * (1 + error);
  result.is_reliable = result.load <= SpeedUp::kBusyLoad || (before.has_cpu_time && after.has_cpu_time);
  result.rounds = ratios.size();
  const bool is_enough = result.rounds >= SpeedUp::kLeastRounds;  // with fewer, the interval is meaningless
  const bool is_apart = result.low > 1 || result.high < 1;
  result.is_measurable =
      result.is_reliable && is_enough && is_apart && std::fabs(result.ratio - 1) > kNoticeable;
  return result;
}

namespace {

constexpr std::string_view kEnding = "_kernel_time", kDelegate = "XNNPACK";
constexpr JsonLimits kLimits{.depth = 16, .bytes = std::size_t{512} << 20};

struct Event {
  std::string node, op_type;
  bool is_integer = false, is_delegated = false;
  double begin = 0, seconds = 0;  // without the time of nodes inside
  double end = 0;
};

struct Events {
  std::uint64_t runs = 0;
  std::uint64_t operators = 0, delegated = 0;  // of a .tflite model
  std::vector<Event> kernels;
};

Events events_of(std::string_view json) {
  Events events;
  for (const auto& entry : parse_json(json, kLimits)) {
    if (!entry.is_object()) continue;
    const std::string name = entry.value("name", "");
    if (entry.value("cat", "") == "Session" && name == "model_run") ++events.runs;
    if (entry.value("cat", "") == "Session" && name == "delegation" && entry.contains("args")) {
      events.operators = entry["args"].value("operators", std::uint64_t{0});
      events.delegated = entry["args"].value("delegated", std::uint64_t{0});
    }
    if (entry.value("cat", "") != "Node" || !name.ends_with(kEnding) || !entry.contains("args")) continue;
    constexpr double kMicro = 1e-6;
    const double begin = kMicro * entry.value("ts", 0.0), seconds = kMicro * entry.value("dur", 0.0);
    const auto& args = entry["args"];
    const std::string op_type = args.value("op_name", "");
    events.kernels.push_back({name.substr(0, name.size() - kEnding.size()), op_type,
                              args.value("is_integer", is_integer_kernel(op_type)),
                              args.value("provider", "") == kDelegate, begin, seconds, begin + seconds});
  }
  return events;
}

// Subtracts the time of events inside a control-flow node from that node. Outer events are sorted first.
void take_off_the_inner(std::vector<Event>& events) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::size_t> around;
  const auto has_body = [](const Event& event) {
    return ops::info(ops::find_op(event.op_type)).op_class == ops::Class::kControlFlow;
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    while (!around.empty() && events[around.back()].end < events[i].end) around.pop_back();
    if (!around.empty()) events[around.back()].seconds -= events[i].end - events[i].begin;
    if (has_body(events[i])) around.push_back(i);
  }
}

template <class T>
void sort_by_time(std::vector<T>& list) {
  std::stable_sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.seconds > b.seconds; });
}

}  // namespace

bool is_integer_kernel(std::string_view op_type) {
  return ops::info(ops::find_op(op_type)).op_class == ops::Class::kIntegerProduct;
}

Profile profile_of(std::string_view json) {
  auto [runs, operators, delegated, events] = events_of(json);
  take_off_the_inner(events);
  struct Node {
    bool is_integer = false, is_delegated = false;
    std::vector<double> times;
  };
  std::map<std::pair<std::string, std::string>, Node> by_node;
  for (Event& event : events) {
    Node& node = by_node[{std::move(event.node), std::move(event.op_type)}];
    node.is_integer = event.is_integer;
    node.is_delegated = event.is_delegated;
    node.times.push_back(std::max(0.0, event.seconds));
  }
  Profile profile;
  profile.runs = runs;
  profile.operators = operators;
  profile.delegated = delegated;
  std::map<std::string, OpTime> ops;
  for (const auto& [key, node] : by_node) {
    const std::vector<double>& times = node.times;
    // A node in a loop runs more often than the model, a node in a branch less often: use the total time per
    // run.
    const double seconds = times.size() == runs ? median(times)
                                                : std::accumulate(times.begin(), times.end(), 0.0) /
                                                      std::max(1.0, static_cast<double>(runs));
    profile.nodes.push_back({key.first, key.second, seconds, node.is_integer});
    if (node.is_integer) profile.integer_share += seconds;
    if (node.is_delegated) profile.delegated_share += seconds;
  }
  for (const NodeTime& node : profile.nodes) {
    OpTime& op = ops[node.op_type];
    op.op_type = node.op_type;
    ++op.nodes;
    op.seconds += node.seconds;
    profile.seconds += node.seconds;
  }
  for (double* const share : {&profile.integer_share, &profile.delegated_share})
    if (profile.seconds > 0) *share /= profile.seconds;
  for (auto& [name, op] : ops) profile.ops.push_back(std::move(op));
  sort_by_time(profile.ops);
  sort_by_time(profile.nodes);
  return profile;
}

Profile read_profile(const std::filesystem::path& file) {
  return profile_of(io::MappedFile::open(file).bytes());
}

}  // namespace ounce::evaluate
