#include "search/tune/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/machine.h"
#include "base/thread_pool.h"
#include "evaluate/timing/rounds.h"
#include "recipe/format_info.h"

namespace ounce::search {
namespace {

constexpr double kDoubtful =
    0.9;                         // share of the original's speed from which a slower candidate is timed again
constexpr int kRepetitions = 2;  // of an unreliable timing

// The ratio of an unreliable timing must not decide anything.
SpeedUp unknown_speed(const SpeedUp& measured) {
  SpeedUp speed;
  speed.rounds = measured.rounds;
  speed.load = measured.load;
  speed.is_reliable = false;
  return speed;
}

}  // namespace

std::vector<SpeedUp> Evaluator::timed_comparison(const std::vector<Recipe>& recipes, double seconds,
                                                 int repetition) {
  std::vector<SpeedUp> speeds;
  if (clock_.counts_models()) {
    for (const Recipe& recipe : recipes) speeds.push_back(assumed_speed(recipe));
    return speeds;
  }
  speeds = measure_times(recipes, seconds, repetition);
  for (SpeedUp& speed : speeds) {
    if (!speed.is_reliable) speed = unknown_speed(speed);
  }
  return speeds;
}

std::vector<SpeedUp> Evaluator::time(const std::vector<Recipe>& recipes, double seconds) {
  std::vector<SpeedUp> speeds = timed_comparison(recipes, seconds, 0);
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    // The machine may be less busy the next time.
    for (int again = 1; again <= kRepetitions && !speeds[i].is_reliable; ++again)
      speeds[i] = timed_comparison({recipes[i]}, seconds, again).front();
    if (!is_slower(speeds[i]) || speeds[i].ratio < kDoubtful) continue;
    std::array<SpeedUp, 3> all = {speeds[i], timed_comparison({recipes[i]}, seconds, 1).front(),
                                  timed_comparison({recipes[i]}, seconds, 2).front()};
    if (!all[1].is_reliable || !all[2].is_reliable) continue;
    std::sort(all.begin(), all.end(), [](const SpeedUp& a, const SpeedUp& b) { return a.ratio < b.ratio; });
    speeds[i] = all[1];
  }
  return speeds;
}

SpeedUp Evaluator::assumed_speed(const Recipe& recipe) {
  double before = 0, after = 0;
  for (const TreatedLayer& treated : layers(recipe)) {
    const auto values = static_cast<double>(treated.layer.values);
    before += values;
    after += values * info_of(treated.format).assumed_time;
  }
  SpeedUp speed;
  speed.ratio = speed.low = speed.high = after > 0 ? before / after : 1;
  return speed;
}

namespace {

constexpr std::uint64_t kSession = std::uint64_t{64} << 20;  // bytes of a session without its weights

}  // namespace

std::uint64_t sessions_in_memory(std::uint64_t model_bytes) {
  return std::max<std::uint64_t>(1, available_memory() / 2 / (3 * model_bytes + kSession));
}

unsigned side_by_side(std::uint64_t model_bytes, const RuntimeOptions& runtime, unsigned cpus) {
  const unsigned all = cpus != 0 ? cpus : ThreadPool().size();
  const unsigned each_takes = std::max(1U, runtime.threads * runtime.threads_between);
  return static_cast<unsigned>(
      std::min<std::uint64_t>(std::max(1U, all / each_takes), sessions_in_memory(model_bytes)));
}

namespace {

constexpr double kSameTime = 0.03, kSameSize = 0.005;  // shares
constexpr double kSameQuality = 1;                     // dB
constexpr double kNotFaster = 2;                       // cost factor of a model that is not faster (balanced)
constexpr double kSmaller = 0.99;                      // share of the original's bytes
constexpr double kSlower = 0.98;  // share of the original's speed, if the timing is reliable
constexpr double kUntimed = std::numeric_limits<double>::infinity();

double time_of(const TuneTrial& trial) { return trial.speed_up.ratio > 0 ? 1 / trial.speed_up.ratio : 1; }

bool is_faster(const TuneTrial& trial) {
  return trial.speed_up.is_measurable && trial.speed_up.ratio >= evaluate::kClearlyFaster;
}

double tolerance_of(Objective objective) { return objective == Objective::kSize ? kSameSize : kSameTime; }

bool is_beaten(const TuneTrial& trial, const TuneTrial& by) {
  const bool is_no_better = by.bytes <= trial.bytes && time_of(by) <= time_of(trial) * (1 + kSameTime) &&
                            sqnr_rank(by) >= sqnr_rank(trial) - kSameQuality;
  const bool is_worse = by.bytes < trial.bytes || time_of(by) < time_of(trial) * (1 - kSameTime) ||
                        sqnr_rank(by) > sqnr_rank(trial) + kSameQuality;
  return is_no_better && is_worse;
}

}  // namespace

bool is_slower(const SpeedUp& speed, Objective objective) {
  // Dequantizing at run time is slow unless a timing shows otherwise; other formats are rarely slower.
  if (!speed.is_reliable) return objective == Objective::kMemory;
  if (objective == Objective::kMemory) return speed.ratio < kLeastMemorySpeed;
  return speed.ratio < evaluate::kClearlySlower || (speed.is_measurable && speed.ratio < kSlower);
}

bool gains(const TuneTrial& trial) {
  return trial.ratio <= kSmaller || is_faster(trial) || trial.memory_ratio <= kSmaller;
}

bool is_eligible(const TuneTrial& trial) {
  return trial.problem.empty() && trial.passed && !trial.is_slower && gains(trial) &&
         trial.held_out.value_or(true);
}

double cost_of(const TuneTrial& trial, Objective objective) {
  switch (objective) {
    case Objective::kLatency: return time_of(trial);
    case Objective::kSize: return trial.ratio;
    case Objective::kMemory: return trial.memory_ratio;
    case Objective::kBalanced: break;
  }
  return time_of(trial) * trial.ratio * (is_faster(trial) ? 1 : kNotFaster);
}

bool is_better(const TuneTrial& a, const TuneTrial& b, Objective objective) {
  const auto compare = [](double left, double right, double same) {
    return left < right * (1 - same) ? -1 : right < left * (1 - same) ? 1 : 0;
  };
  int order = compare(cost_of(a, objective), cost_of(b, objective), tolerance_of(objective));
  if (order == 0 && objective == Objective::kLatency) order = compare(a.ratio, b.ratio, kSameTime);
  if (order == 0 && objective == Objective::kMemory) order = compare(a.ratio, b.ratio, kSameSize);
  if (order == 0 && objective == Objective::kSize) order = compare(time_of(a), time_of(b), kSameTime);
  return order != 0 ? order < 0 : sqnr_rank(a) > sqnr_rank(b) + kSameQuality;
}

void mark_front(std::vector<TuneTrial>& trials) {
  for (TuneTrial& trial : trials) {
    trial.is_on_front = is_eligible(trial) && std::none_of(trials.begin(), trials.end(), [&](const auto& by) {
                          return &by != &trial && is_eligible(by) && is_beaten(trial, by);
                        });
  }
  const auto first_by = [&](const auto& value) -> TuneTrial* {
    TuneTrial* best = nullptr;
    for (TuneTrial& trial : trials) {
      if (is_eligible(trial) && (best == nullptr || value(trial) < value(*best))) best = &trial;
    }
    return best;
  };
  if (TuneTrial* smallest = first_by([](const TuneTrial& t) { return static_cast<double>(t.bytes); }))
    smallest->is_smallest = true;
  const auto slowness = [](const TuneTrial& t) { return t.is_timed ? time_of(t) : kUntimed; };
  if (TuneTrial* fastest = first_by(slowness)) fastest->is_fastest = fastest->is_timed;
  if (TuneTrial* closest = first_by([](const TuneTrial& t) { return -sqnr_rank(t); }))
    closest->is_closest = true;
}

namespace {

// "300 of 307 samples needed at 95 % confidence", or the gate that failed and by how much. `where` names the
// data.
std::string gate_reason(const TuneTrial& trial, const char* where) {
  constexpr std::string_view kFailed = "failed: ";
  const std::string verdict =
      trial.verdict.starts_with(kFailed) ? trial.verdict.substr(kFailed.size()) : trial.verdict;
  if (trial.samples_needed <= trial.samples || trial.confidence == 0) return where + verdict;
  const std::size_t others = verdict.rfind(" (and ");  // the number of further failures
  return fmt::format("{} of {} samples needed at {:.4g} % confidence{}", trial.samples, trial.samples_needed,
                     100 * trial.confidence, others == std::string::npos ? "" : verdict.substr(others));
}

std::string speed_reason(const TuneTrial& trial, Objective objective) {
  if (!trial.is_timed) return "not timed, as the machine was too busy";
  if (objective == Objective::kMemory)
    return fmt::format("{:.2f} × the original's speed, {:.2f} needed", trial.speed_up.ratio,
                       kLeastMemorySpeed);
  return fmt::format("slower than the original ({:.2f} ×)", trial.speed_up.ratio);
}

}  // namespace

std::string rejection_of(const TuneTrial& trial, Objective objective, const TuneTrial* held_out) {
  if (!trial.problem.empty()) return trial.problem;
  if (!trial.passed) return gate_reason(trial, "");
  if (!trial.held_out.value_or(true)) {
    if (held_out == nullptr) return "fails on held-out data";
    return gate_reason(*held_out,
                       held_out->samples > trial.samples ? "on all samples: " : "on held-out data: ");
  }
  if (trial.is_slower) return speed_reason(trial, objective);
  return gains(trial) ? "" : "not smaller or faster than the original";
}

}  // namespace ounce::search
