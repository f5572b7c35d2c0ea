#include "search/tune/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "evaluate/timing/rounds.h"

namespace ounce::search {
namespace {

constexpr double kSameTime = 0.03, kSameSize = 0.005;  // shares
constexpr double kSameQuality = 1;                     // dB
constexpr double kNotFaster = 2;                       // times the cost of a balanced model
constexpr double kSmaller = 0.99;                      // … and smaller
constexpr double kSlower = 0.98;                       // where the timing is sure
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
  // Decoding at run time is slow unless a timing shows that it is not; everything else is usually not slower.
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

// "300 of 307 samples needed at 95 % confidence", or which gate failed and by how much. `where`: the data.
std::string gate_reason(const TuneTrial& trial, const char* where) {
  constexpr std::string_view kFailed = "failed: ";
  const std::string verdict =
      trial.verdict.starts_with(kFailed) ? trial.verdict.substr(kFailed.size()) : trial.verdict;
  if (trial.samples_needed <= trial.samples || trial.confidence == 0) return where + verdict;
  const std::size_t others = verdict.rfind(" (and ");  // gates or edge cases that failed as well
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
