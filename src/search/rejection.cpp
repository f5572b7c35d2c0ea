#include "search/rejection.h"

#include <fmt/format.h>

#include <string_view>

#include "search/objective.h"

namespace ounce::search {
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
