#include "measure/gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ounce::measure {
namespace {

// One gate and how it came out. The margin says how much room there is, as a share of the limit, so that
// gates can be compared with each other.
struct Outcome {
  bool holds = true;
  double margin = std::numeric_limits<double>::infinity();
  std::string text;
};

Outcome at_most(double value, double limit, const std::string& what) {
  const bool holds = value <= limit;
  const double scale = limit > 0 ? limit : 1;
  return {holds, (limit - value) / scale,
          fmt::format("{} is {:.4g}, {} {:.4g}", what, value, holds ? "at most" : "more than", limit)};
}

Outcome sqnr(double value, double limit, const std::string& what) {
  const bool holds = value >= limit;
  if (std::isinf(value) && value > 0) return {true, value, fmt::format("{} is identical", what)};
  return {holds, (value - limit) / std::max(std::fabs(limit), 1.0),
          fmt::format("{} has {:.1f} dB, {:.1f} dB {} than the {:.4g} dB of `gates.min_sqnr`", what, value,
                      std::fabs(value - limit), holds ? "more" : "less", limit)};
}

Outcome agreement(double value, double limit, const std::string& what) {
  const bool holds = value >= limit;
  return {holds, (value - limit) / std::max(limit, 1e-9),
          fmt::format("{} agrees in {:.2f} % of answers, {} {:.2f} % of `gates.min_agreement`", what,
                      100 * value, holds ? "at least the" : "less than the", 100 * limit)};
}

// A gate that nothing could be held against does not hold: a typing error must not pass.
Outcome unanswered(std::string why) {
  return {false, -std::numeric_limits<double>::infinity(), std::move(why)};
}

// The worst slice of an output, which the whole hides: what is said of it says so.
Outcome sqnr_of_slice(const OutputSlice& slice, const OutputComparison& whole, double limit) {
  if (std::isinf(slice.sqnr_db) && slice.sqnr_db > 0)
    return {true, slice.sqnr_db, fmt::format("{} is identical", slice.name)};
  const bool holds = slice.sqnr_db >= limit;
  return {holds, (slice.sqnr_db - limit) / std::max(std::fabs(limit), 1.0),
          fmt::format("{}: {:.1f} dB, while the whole has {:.1f}: {:.1f} dB {} than the {:.4g} dB of "
                      "`gates.min_sqnr`",
                      slice.name, slice.sqnr_db, whole.sqnr_db, std::fabs(slice.sqnr_db - limit),
                      holds ? "more" : "less", limit)};
}

Outcome flips(const OutputComparison& output, double limit) {
  const double share =
      output.decisions == 0 ? 0 : static_cast<double>(*output.flips) / static_cast<double>(output.decisions);
  const bool holds = share <= limit;
  return {
      holds, (limit - share) / std::max(limit, 1e-9),
      fmt::format("output '{}' decides otherwise in {} of {}, {} {:.2f} % of `gates.max_flips`", output.name,
                  *output.flips, output.decisions, holds ? "within the" : "more than the", 100 * limit)};
}

// What is no share (decibels, an error that the reference does not make) loses a plain number.
bool is_plain(const MetricResult& metric) {
  return metric.higher_is_better ? metric.reference > 1 || metric.reference < 0 : metric.reference == 0;
}

Outcome plain_drop(const MetricResult& metric, double limit) {
  const bool holds = metric.drop <= limit;
  const std::string change =
      metric.drop == 0
          ? "stays the same"
          : fmt::format("is {} by {:.4g}", metric.drop > 0 ? "worse" : "better", std::fabs(metric.drop));
  return {holds, (limit - metric.drop) / std::max(limit, 1e-9),
          fmt::format("{} {}, {} {:.4g} of `gates.max_drop`", metric.name, change,
                      holds ? "within the" : "more than the", limit)};
}

// Accuracies lose points; errors and likelihoods have no natural scale, so theirs is relative to the
// reference.
Outcome drop(const MetricResult& metric, double limit) {
  if (std::isnan(metric.drop))
    return unanswered("no label counts, so there is no metric for `gates.max_drop`");
  if (is_plain(metric)) return plain_drop(metric, limit);
  const bool is_absolute = metric.higher_is_better || metric.reference == 0;
  const double loss = is_absolute ? metric.drop : metric.drop / std::fabs(metric.reference);
  const bool holds = loss <= limit;
  const std::string change =
      loss == 0 ? "stays the same"
                : fmt::format("is {} by {:.2f} {}", loss > 0 ? "worse" : "better", 100 * std::fabs(loss),
                              is_absolute ? "points" : "% of the reference");
  return {holds, (limit - loss) / std::max(limit, 1e-9),
          fmt::format("{} {}, {} {:.2f} {} of `gates.max_drop`", metric.name, change,
                      holds ? "within the" : "more than the", 100 * limit, is_absolute ? "points" : "%")};
}

// Each metric that a gate names.
void add_drops(const std::map<std::string, double>& limits, const std::vector<MetricResult>& metrics,
               std::vector<Outcome>& all) {
  std::vector<std::string> names;
  for (const MetricResult& metric : metrics) names.push_back(metric.name);
  for (const auto& [name, limit] : limits) {
    const auto found = std::find(names.begin(), names.end(), name);
    const std::string known = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    all.push_back(found == names.end()
                      ? unanswered(fmt::format("there is no metric '{}' for `gates.max_drop`; there is {}",
                                               name, known))
                      : drop(metrics[static_cast<std::size_t>(found - names.begin())], limit));
  }
}

// Gates that nothing can be held against.
void add_unanswered(const Gates& gates, const VerifyResult& result, std::vector<Outcome>& all) {
  const auto& outputs = result.outputs;
  const bool has_flips = std::any_of(outputs.begin(), outputs.end(),
                                     [](const auto& output) { return !output.is_state && output.flips; });
  if (gates.max_flips && !has_flips)
    all.push_back(unanswered("no output decides for `gates.max_flips`: it needs `threshold`"));
  const bool has_lists =
      std::any_of(outputs.begin(), outputs.end(), [](const auto& output) { return output.is_list; });
  const bool has_values = std::any_of(outputs.begin(), outputs.end(),
                                      [](const auto& output) { return !output.is_state && !output.is_list; });
  if (has_lists && !has_values && !gates.max_drop && gates.max_drops.empty())
    all.push_back(
        unanswered("the outputs are lists of what was found: `gates.max_drop` says what may be lost"));
}

std::vector<Outcome> outcomes(const Gates& gates, const VerifyResult& result) {
  std::vector<Outcome> all;
  const bool has_any = gates.max_abs_diff || gates.mean_abs_diff || gates.min_sqnr || gates.min_agreement ||
                       gates.max_drop || !gates.max_drops.empty() || gates.max_mse || gates.max_flips;
  for (const OutputComparison& output : result.outputs) {
    if (output.is_state || output.is_list) continue;
    const std::string name = fmt::format("output '{}'", output.name);
    if (gates.max_abs_diff)
      all.push_back(at_most(output.max_abs_diff, *gates.max_abs_diff, "the largest difference of " + name));
    if (gates.mean_abs_diff)
      all.push_back(at_most(output.mean_abs_diff, *gates.mean_abs_diff, "the mean difference of " + name));
    if (gates.min_sqnr || !has_any)
      all.push_back(sqnr(output.sqnr_db, gates.min_sqnr.value_or(kDefaultSqnr), name));
    if ((gates.min_sqnr || !has_any) && !output.slices.empty())
      all.push_back(sqnr_of_slice(output.slices.front(), output, gates.min_sqnr.value_or(kDefaultSqnr)));
    if (gates.max_mse)
      all.push_back(at_most(output.mse, *gates.max_mse, "the mean squared difference of " + name));
    if (gates.max_flips && output.flips) all.push_back(flips(output, *gates.max_flips));
    if (gates.min_agreement && output.top1_agreement)
      all.push_back(agreement(*output.top1_agreement, *gates.min_agreement, name));
  }
  const bool has_answers =
      std::any_of(result.outputs.begin(), result.outputs.end(),
                  [](const OutputComparison& output) { return !output.is_state && output.top1_agreement; });
  if (gates.min_agreement && !has_answers)
    all.push_back(unanswered("no output has scores of classes for `gates.min_agreement`"));
  if (std::all_of(result.outputs.begin(), result.outputs.end(),
                  [](const auto& output) { return output.is_state; }))
    all.push_back(unanswered("there is no output to hold a gate against: all of them are states"));
  if (gates.max_drop) {
    all.push_back(result.metrics.empty()
                      ? unanswered("there is no metric for `gates.max_drop`: it needs labels, or `task`")
                      : drop(result.metrics.front(), *gates.max_drop));
  }
  add_drops(gates.max_drops, result.metrics, all);
  add_unanswered(gates, result, all);
  return all;
}

}  // namespace

void judge(const Gates& gates, VerifyResult& result) {
  for (const OutputComparison& output : result.outputs) {
    if (output.newly_not_finite != 0) {
      result.failures.push_back(
          fmt::format("output '{}' has {} NaN or infinite values where the reference has numbers",
                      output.name, output.newly_not_finite));
    }
  }
  Outcome nearest;
  for (Outcome& outcome : outcomes(gates, result)) {
    if (!outcome.holds) result.failures.push_back(outcome.text);
    if (outcome.margin < nearest.margin || nearest.text.empty()) nearest = std::move(outcome);
  }
  for (const EdgeCase& edge : result.edge_cases) {
    if (!edge.passed) result.failures.push_back(fmt::format("edge case '{}': {}", edge.name, edge.finding));
  }
  for (const CpuComparison& cpu : result.cpus) {
    if (!cpu.is_run()) {
      result.failures.push_back(fmt::format("not run on {}: {}", cpu.cpu, cpu.why_not));
    } else if (!cpu.is_same()) {
      result.failures.push_back(fmt::format(
          "on {} it is another model: {:.1f} dB from what it gives here, {} of {} answers are others",
          cpu.cpu, cpu.sqnr_db, cpu.flips, cpu.answers));
    }
  }
  result.passed = result.failures.empty();
  result.verdict = result.passed ? "passed: " + nearest.text : "failed: " + result.failures.front();
  if (result.failures.size() > 1) result.verdict += fmt::format(" (and {} more)", result.failures.size() - 1);
}

}  // namespace ounce::measure
