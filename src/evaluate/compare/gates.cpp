#include "evaluate/compare/gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/quality.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/statistics/certainty.h"

namespace ounce::evaluate {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kFewAnswers = 10;  // with fewer labels, a single change is a large share
constexpr const char* kOneNumber =
    "`metric_command` gives one number for all samples, which has no confidence interval: use `task` or "
    "`labels`, or judge only these samples without `gates.confidence`";

// The outcome of one gate. The margin is the distance to the limit divided by the limit, to compare gates.
struct Outcome {
  bool holds = true;
  double margin = kNoLimit;
  std::string text;
  std::optional<Bound> bound = {};     // on unseen data; none if the gate is only about these samples
  std::string claim = {}, doubt = {};  // the bound as text, and the message if the bound is not sufficient
  bool is_of_values = false;           // judges the values of outputs, not predictions made from them
  std::string no_bound = {};           // why there is no bound, and what to do
};

// Parts of the message about a gate.
struct Words {
  std::string what;   // "output 'y' agrees in 98.40 % of predictions"
  std::string limit;  // "98.00 % (`gates.min_agreement`)"
  std::string shown;  // "96.60 % or more"
};

// Rounds an estimate up to three significant digits.
std::string about(std::uint64_t samples) {
  std::uint64_t unit = 1;
  while (samples / unit >= 1000) unit *= 10;
  const std::uint64_t rounded = (samples + unit - 1) / unit * unit;
  return fmt::format("{}{}", rounded == samples ? "" : "about ", rounded);
}

void add_bound(Outcome& outcome, const Bound& bound, const Words& words, const VerifyResult& result) {
  const std::string sure = fmt::format("{:.4g} % confidence", 100 * result.confidence);
  outcome.bound = bound;
  outcome.claim = fmt::format("{} at {}", words.shown, sure);
  outcome.doubt = words.what + ", but ";
  if (!std::isfinite(bound.value)) {
    outcome.doubt += "one sample says nothing about unseen data";
    return;
  }
  outcome.doubt +=
      fmt::format("{} only {}; ",
                  result.samples == 1 ? "one sample shows" : fmt::format("{} samples show", result.samples),
                  outcome.claim);
  outcome.doubt += bound.needed != 0
                       ? fmt::format("to show {} takes {} samples", words.limit, about(bound.needed))
                       : fmt::format("no number of samples can show {}", words.limit);
}

Outcome at_most(double value, double limit, const std::string& what) {
  const bool holds = value <= limit;
  const double scale = limit > 0 ? limit : 1;
  Outcome outcome = {
      holds, (limit - value) / scale,
      fmt::format("{} is {:.4g}, {} the allowed {:.4g}", what, value, holds ? "within" : "more than", limit)};
  outcome.is_of_values = true;
  return outcome;
}

Outcome largest_difference(const OutputComparison& output, double limit, const std::string& what) {
  Outcome outcome = at_most(output.max_abs_diff, limit, what);
  outcome.no_bound =
      "no number of samples bounds the largest difference on unseen data: use `gates.mean_abs_diff`, "
      "`gates.max_mse` or `gates.min_sqnr`, or judge only these samples without `gates.confidence`";
  return outcome;
}

// `high` receives the bound; `gate` is the name of the limit.
Outcome bounded_at_most(double value, double limit, const Bound& bound, std::optional<double>& high,
                        const std::string& what, const char* gate, const VerifyResult& result) {
  Outcome outcome = at_most(value, limit, what);
  high = bound.value;
  add_bound(outcome, bound,
            {fmt::format("{} is {:.4g}", what, value), fmt::format("{:.4g} or less ({})", limit, gate),
             fmt::format("{:.4g} or less", bound.value)},
            result);
  return outcome;
}

Outcome mean_square(OutputComparison& output, double limit, const std::string& what,
                    const VerifyResult& result) {
  return bounded_at_most(output.mse, limit, Certainty(result.confidence, result).mean_square(output, limit),
                         output.mse_high, what, "`gates.max_mse`", result);
}

Outcome mean_difference(OutputComparison& output, double limit, const std::string& what,
                        const VerifyResult& result) {
  return bounded_at_most(output.mean_abs_diff, limit,
                         Certainty(result.confidence, result).mean_difference(output, limit),
                         output.mean_abs_high, what, "`gates.mean_abs_diff`", result);
}

Outcome sqnr(OutputComparison& output, double limit, const std::string& what, const VerifyResult& result) {
  const double value = output.sqnr_db;
  const bool holds = value >= limit;
  if (std::isnan(value) && output.silent_values != 0) {
    Outcome outcome = {
        true, kNoLimit,
        fmt::format("{}: neither model detects anything in these samples, so SQNR is not judged", what)};
    outcome.no_bound =
        "nothing is known about unseen data: add samples with objects, or judge only these samples without "
        "`gates.confidence`";
    return outcome;
  }
  if (std::isinf(value) && value > 0) return {true, value, fmt::format("{} is identical", what)};
  Outcome outcome = {
      holds, (value - limit) / std::max(std::fabs(limit), 1.0),
      fmt::format("{} has {:.1f} dB SQNR, {:.1f} dB {} than the required {:.4g} dB (`gates.min_sqnr`)", what,
                  value, std::fabs(value - limit), holds ? "more" : "less", limit)};
  outcome.is_of_values = true;
  const Bound bound = Certainty(result.confidence, result).sqnr(output, limit);
  output.sqnr_low_db = bound.value;
  add_bound(
      outcome, bound,
      {fmt::format("{} has {:.1f} dB SQNR", what, value), fmt::format("{:.4g} dB (`gates.min_sqnr`)", limit),
       fmt::format("{:.1f} dB or more", bound.value)},
      result);
  return outcome;
}

Outcome agreement(OutputComparison& output, double limit, const std::string& what,
                  const VerifyResult& result) {
  const double value = *output.top1_agreement;
  const bool holds = value >= limit;
  Outcome outcome = {
      holds, (value - limit) / std::max(limit, 1e-9),
      fmt::format("{} agrees in {:.2f} % of predictions, {} the required {:.2f} % (`gates.min_agreement`)",
                  what, 100 * value, holds ? "at least" : "less than", 100 * limit)};
  const Bound bound = Certainty(result.confidence, result).agreement(output, limit);
  output.agreement_low = bound.value;
  add_bound(outcome, bound,
            {fmt::format("{} agrees in {:.2f} % of predictions", what, 100 * value),
             fmt::format("{:.2f} % (`gates.min_agreement`)", 100 * limit),
             fmt::format("{:.2f} % or more", 100 * bound.value)},
            result);
  return outcome;
}

// Labels cannot be subtracted: instead of value gates, a share of labels must be unchanged.
Outcome labels_kept(OutputComparison& output, const VerifyResult& result) {
  const double share = (1 - kDefaultAgreement) * static_cast<double>(output.answers);
  const double allowed = std::max(share, output.answers >= kFewAnswers ? 1.0 : 0.0);
  const auto changed = static_cast<double>(output.changed);
  const bool holds = changed <= allowed;
  Outcome outcome = {
      holds, (allowed - changed) / std::max(allowed, 1.0),
      fmt::format("output '{}': {} of {} labels changed, {} the allowed {:.0f} ({:.0f} % must be unchanged; "
                  "set another share with `gates.min_agreement`)",
                  output.name, output.changed, output.answers, holds ? "within" : "more than",
                  std::floor(allowed), 100 * kDefaultAgreement)};
  const Bound bound = Certainty(result.confidence, result).agreement(output, kDefaultAgreement);
  output.agreement_low = bound.value;
  add_bound(outcome, bound,
            {fmt::format("output '{}': {} of {} labels changed", output.name, output.changed, output.answers),
             fmt::format("{:.0f} % unchanged (set another share with `gates.min_agreement`)",
                         100 * kDefaultAgreement),
             fmt::format("{:.2f} % or more unchanged", 100 * bound.value)},
            result);
  return outcome;
}

// A gate without an output or metric to judge fails, so that a typing error does not pass.
Outcome unanswered(std::string why) {
  return {false, -std::numeric_limits<double>::infinity(), std::move(why)};
}

// Judges the worst slice of an output. If all slices pass on these samples, it is the one with the lowest
// bound.
Outcome sqnr_of_slices(OutputComparison& whole, double limit, const VerifyResult& result) {
  const Certainty certainty(result.confidence, result);
  for (OutputSlice& slice : whole.slices) slice.sqnr_low_db = certainty.sqnr(slice, limit).value;
  const auto lowest = std::min_element(
      whole.slices.begin(), whole.slices.end(),
      [](const OutputSlice& a, const OutputSlice& b) { return *a.sqnr_low_db < *b.sqnr_low_db; });
  const OutputSlice& slice = whole.slices.front().sqnr_db >= limit ? *lowest : whole.slices.front();
  if (std::isinf(slice.sqnr_db) && slice.sqnr_db > 0)
    return {true, slice.sqnr_db, fmt::format("output part {} is identical", slice.name)};
  const bool holds = slice.sqnr_db >= limit;
  const std::string what = fmt::format("output part {} has {:.1f} dB SQNR (whole output: {:.1f} dB)",
                                       slice.name, slice.sqnr_db, whole.sqnr_db);
  Outcome outcome = {holds, (slice.sqnr_db - limit) / std::max(std::fabs(limit), 1.0),
                     fmt::format("{}, {:.1f} dB {} than the required {:.4g} dB (`gates.min_sqnr`)", what,
                                 std::fabs(slice.sqnr_db - limit), holds ? "more" : "less", limit)};
  add_bound(outcome, certainty.sqnr(slice, limit),
            {what, fmt::format("{:.4g} dB (`gates.min_sqnr`)", limit),
             fmt::format("{:.1f} dB or more", *slice.sqnr_low_db)},
            result);
  return outcome;
}

Outcome flips(OutputComparison& output, double limit, const VerifyResult& result) {
  const double share =
      output.decisions == 0 ? 0 : static_cast<double>(*output.flips) / static_cast<double>(output.decisions);
  const bool holds = share <= limit;
  const std::string what =
      fmt::format("output '{}' changes {} of {} decisions", output.name, *output.flips, output.decisions);
  Outcome outcome = {holds, (limit - share) / std::max(limit, 1e-9),
                     fmt::format("{}, {} the allowed {:.2f} % (`gates.max_flips`)", what,
                                 holds ? "within" : "more than", 100 * limit)};
  const Bound bound = Certainty(result.confidence, result).flips(output, limit);
  output.flips_high = bound.value;
  add_bound(outcome, bound,
            {what, fmt::format("{:.2f} % (`gates.max_flips`)", 100 * limit),
             fmt::format("{:.2f} % or less", 100 * bound.value)},
            result);
  return outcome;
}

// True if the reference's outputs equal the labels, except for rounding.
bool is_reproduced(const MetricResult& metric) {
  return metric.unit == MetricUnit::kRelative && std::fabs(metric.reference) <= metric.rounding;
}

// True for a metric without a scale (decibels, an error that the reference does not make): its loss is a
// plain number.
bool is_plain(const MetricResult& metric) {
  switch (metric.unit) {
    case MetricUnit::kShare: return false;
    case MetricUnit::kRelative: return is_reproduced(metric) && metric.label_size == 0;
    case MetricUnit::kAbsolute:
    case MetricUnit::kDecibel: break;
  }
  return true;
}

Outcome drop(MetricResult& metric, double limit, const VerifyResult& result) {
  if (std::isnan(metric.drop)) {
    return unanswered(fmt::format("{} was not measured, so `gates.max_drop` cannot be judged: {}",
                                  metric.name,
                                  metric.why_not.empty() ? "all labels are ignored" : metric.why_not));
  }
  const bool is_plain = evaluate::is_plain(metric), is_share = metric.unit == MetricUnit::kShare;
  const char* const unit = is_plain   ? metric.unit == MetricUnit::kDecibel ? " dB" : ""
                           : is_share ? " points"
                                      : " %";
  const char* const whole = is_plain || is_share    ? unit
                            : is_reproduced(metric) ? " % of the labels' size"
                                                    : " % of the reference";
  const auto figure = [&](double loss, const char* of) {
    return is_plain ? fmt::format("{:.4g}{}", loss, of) : fmt::format("{:.2f}{}", 100 * loss, of);
  };
  const double scale = loss_scale(metric), loss = metric.drop / scale;
  const bool holds = loss <= limit;
  const std::string change =
      loss == 0 ? "stays the same"
                : fmt::format("is {} by {}", loss > 0 ? "worse" : "better", figure(std::fabs(loss), whole));
  Outcome outcome = {holds, (limit - loss) / std::max(limit, 1e-9),
                     fmt::format("{} {}, {} the allowed {} (`gates.max_drop`)", metric.name, change,
                                 holds ? "within" : "more than", figure(limit, unit))};
  if (!metric.has_interval) {
    outcome.no_bound = kOneNumber;
    return outcome;
  }
  const Bound bound = Certainty(result.confidence, result).drop(metric, limit * scale);
  metric.drop_bound = bound.value;
  add_bound(outcome, bound,
            {fmt::format("{} {}", metric.name, change),
             fmt::format("{} or less (`gates.max_drop`)", figure(limit, unit)),
             fmt::format("a loss of {} or less", figure(bound.value / scale, unit))},
            result);
  return outcome;
}

// Judges each metric that a gate names.
void add_drops(const std::map<std::string, double>& limits, VerifyResult& result, std::vector<Outcome>& all) {
  std::vector<std::string> names;
  for (const MetricResult& metric : result.metrics) names.push_back(metric.name);
  for (const auto& [name, limit] : limits) {
    const auto found = std::find(names.begin(), names.end(), name);
    const std::string known = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    all.push_back(
        found == names.end()
            ? unanswered(fmt::format("`gates.max_drop`: no metric is named '{}'; metrics: {}", name, known))
            : drop(result.metrics[static_cast<std::size_t>(found - names.begin())], limit, result));
  }
}

// Adds failures for gates without an output to judge.
void add_unanswered(const Gates& gates, const VerifyResult& result, std::vector<Outcome>& all) {
  const auto& outputs = result.outputs;
  const auto any_judged = [&](auto&& holds) {
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const OutputComparison& output) { return is_judged(output) && holds(output); });
  };
  if (gates.max_flips && !any_judged([](const auto& output) { return output.flips.has_value(); }))
    all.push_back(
        unanswered("`gates.max_flips` has no output to judge: it needs `threshold` and a numeric output; "
                   "labels are judged by `gates.min_agreement`"));
  const bool has_lists = any_judged([](const auto& output) { return output.is_list; });
  const bool has_values = any_judged([](const auto& output) { return !output.is_list; });
  if (has_lists && !has_values && !gates.max_drop && gates.max_drops.empty())
    all.push_back(
        unanswered("the outputs are lists of detections, which have no SQNR: set `gates.max_drop`"));
}

// True if the gates judge values, not only predictions.
bool judges_values(const Gates& gates) {
  return !has_any(gates) || gates.max_abs_diff || gates.mean_abs_diff || gates.min_sqnr || gates.max_mse;
}

std::vector<Outcome> outcomes(const Gates& gates, VerifyResult& result) {
  std::vector<Outcome> all;
  for (OutputComparison& output : result.outputs) {
    if (!is_judged(output) || output.is_list) continue;
    const std::string name = fmt::format("output '{}'", output.name);
    if (output.is_label) {
      if (gates.min_agreement && output.top1_agreement)
        all.push_back(agreement(output, *gates.min_agreement, name, result));
      if (judges_values(gates) && !gates.min_agreement) all.push_back(labels_kept(output, result));
      continue;
    }
    if (gates.max_abs_diff)
      all.push_back(largest_difference(output, *gates.max_abs_diff, "the largest difference of " + name));
    if (gates.mean_abs_diff)
      all.push_back(mean_difference(output, *gates.mean_abs_diff, "the mean difference of " + name, result));
    if (gates.min_sqnr || !has_any(gates))
      all.push_back(sqnr(output, gates.min_sqnr.value_or(Quality::kMinUsable), name, result));
    if ((gates.min_sqnr || !has_any(gates)) && !output.slices.empty())
      all.push_back(sqnr_of_slices(output, gates.min_sqnr.value_or(Quality::kMinUsable), result));
    if (gates.max_mse)
      all.push_back(mean_square(output, *gates.max_mse, "the mean squared difference of " + name, result));
    if (gates.max_flips && output.flips) all.push_back(flips(output, *gates.max_flips, result));
    if (gates.min_agreement && output.top1_agreement)
      all.push_back(agreement(output, *gates.min_agreement, name, result));
  }
  const bool has_answers =
      std::any_of(result.outputs.begin(), result.outputs.end(),
                  [](const OutputComparison& output) { return is_judged(output) && output.top1_agreement; });
  if (gates.min_agreement && !has_answers)
    all.push_back(
        unanswered("`gates.min_agreement` has no output to judge: no output has labels or class scores"));
  if (std::none_of(result.outputs.begin(), result.outputs.end(), is_judged))
    all.push_back(unanswered("no output to judge: all outputs are recurrent states"));
  if (gates.max_drop) {
    all.push_back(result.metrics.empty()
                      ? unanswered("`gates.max_drop` has no metric to judge: give labels or `task`")
                      : drop(result.metrics.front(), *gates.max_drop, result));
  }
  add_drops(gates.max_drops, result, all);
  add_unanswered(gates, result, all);
  return all;
}

// True if all judged outputs are bit-identical. Then no confidence bound is needed.
bool is_identical(const VerifyResult& result) {
  return std::all_of(result.outputs.begin(), result.outputs.end(), [](const OutputComparison& output) {
    return !is_judged(output) || (std::isinf(output.sqnr_db) && output.sqnr_db > 0);
  });
}

// With a required confidence, a gate passes only if its bound on unseen data meets the limit, too.
void demand_certainty(Outcome& outcome, bool allow_unbounded) {
  if (!outcome.holds) return;
  if (!outcome.no_bound.empty() && !allow_unbounded) {
    outcome.holds = outcome.is_of_values = false;
    outcome.text += ", but " + outcome.no_bound;
  }
  if (!outcome.bound) return;
  outcome.holds = outcome.bound->holds;
  outcome.text = outcome.holds ? fmt::format("{}; {}", outcome.text, outcome.claim) : outcome.doubt;
}

// Sets the certainty on unseen data, given that all gates pass on these samples.
void note_certainty(const std::vector<Outcome>& all, VerifyResult& result) {
  const Outcome* nearest = nullptr;
  bool& are_good = result.are_bounds_good;
  are_good = true;
  for (const Outcome& outcome : all) {
    if (!outcome.no_bound.empty()) result.unbounded.push_back(outcome.text + ", but " + outcome.no_bound);
    if (!outcome.bound) continue;
    const bool is_good = outcome.bound->holds;
    if (nearest == nullptr || (!is_good && are_good) ||
        (is_good == are_good && outcome.margin < nearest->margin))
      nearest = &outcome;
    are_good = are_good && is_good;
    result.has_too_few_samples = result.has_too_few_samples || outcome.bound->is_short;
    result.samples_needed = std::max(result.samples_needed, outcome.bound->needed);
  }
  result.is_certain = are_good && result.unbounded.empty();
  if (are_good && !result.unbounded.empty()) {
    result.certainty = result.unbounded.front();
  } else if (nearest != nullptr) {
    result.certainty = are_good ? "on unseen data like this: " + nearest->claim : nearest->doubt;
  }
}

// A hint for failed value gates if no prediction changed.
std::string same_decisions(const VerifyResult& result) {
  std::uint64_t decisions = 0;
  bool has_answers = false, are_same = true;
  for (const OutputComparison& output : result.outputs) {
    if (!is_judged(output) || output.is_list) continue;
    has_answers = has_answers || output.top1_agreement;
    are_same = are_same && output.top1_agreement.value_or(1) == 1 && output.flips.value_or(0) == 0;
    decisions += output.flips ? output.decisions : 0;
  }
  const bool has_metric = !result.metrics.empty() && !std::isnan(result.metrics.front().drop);
  if (!are_same || (has_metric && result.metrics.front().drop > 0)) return "";
  if (has_metric)
    return fmt::format("; but {} is not worse: to judge by it, set `gates.max_drop`",
                       result.metrics.front().name);
  if (has_answers)
    return "; but all top-1 predictions are unchanged: to judge by them, set `gates.min_agreement`";
  return decisions == 0 ? "" : fmt::format("; but all {} decisions are unchanged", decisions);
}

}  // namespace

bool has_any(const Gates& gates) {
  return gates.max_abs_diff || gates.mean_abs_diff || gates.min_sqnr || gates.min_agreement ||
         gates.max_drop || !gates.max_drops.empty() || gates.max_mse || gates.max_flips;
}

Gates with_standard(Gates gates, unsigned weight_bits, bool has_metric) {
  constexpr double kDropOf8Bits = 0.02, kDropOf16Bits = 0.005, kMse = 0.01;
  if (has_metric) {
    if (!gates.max_drop) gates.max_drop = weight_bits <= 8 ? kDropOf8Bits : kDropOf16Bits;
  } else if (!gates.max_mse) {
    gates.max_mse = kMse;
  }
  return gates;
}

// Errors and likelihoods have no natural scale: their drop is relative to the reference's value, or to the
// size of the labels if the reference's value is almost zero.
double loss_scale(const MetricResult& metric) {
  if (metric.unit != MetricUnit::kRelative || is_plain(metric)) return 1;
  return is_reproduced(metric) ? metric.label_size : std::fabs(metric.reference);
}

double loss_of(const MetricResult& metric) { return metric.drop / loss_scale(metric); }

void require_confidence(const Gates& gates) {
  const double confidence = gates.confidence.value_or(0);
  if (confidence == 0 || (confidence >= 0.5 && confidence < 1)) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("`gates.confidence` must be at least 50 % and below 100 %, not {:.4g} %",
                          100 * confidence));
}

void judge(const Gates& gates, VerifyResult& result) {
  const bool is_asked = gates.confidence.value_or(0) > 0 && !result.is_generated;
  result.is_confidence_asked = is_asked;
  result.confidence = is_asked ? *gates.confidence : kUsualConfidence;
  for (const OutputComparison& output : result.outputs) {
    if (output.is_judged && output.newly_not_finite != 0) {
      result.failures.push_back(
          fmt::format("output '{}' has {} NaN or infinite values where the reference is finite", output.name,
                      output.newly_not_finite));
    }
  }
  Outcome nearest;
  std::vector<Outcome> all = outcomes(gates, result);
  if (is_identical(result)) {
    for (Outcome& outcome : all) {
      outcome.bound.reset();
      outcome.no_bound.clear();
    }
  }
  const bool holds_here = std::all_of(all.begin(), all.end(), [](const Outcome& one) { return one.holds; });
  if (holds_here && !result.is_generated) note_certainty(all, result);
  for (Outcome& outcome : all) {
    if (is_asked) demand_certainty(outcome, gates.allow_unbounded);
    if (!outcome.holds)
      result.failures.push_back(outcome.text + (outcome.is_of_values ? same_decisions(result) : ""));
    if (outcome.margin < nearest.margin || nearest.text.empty()) nearest = std::move(outcome);
  }
  for (const EdgeCase& edge : result.edge_cases) {
    if (!edge.passed) result.failures.push_back(fmt::format("edge case '{}': {}", edge.name, edge.finding));
  }
  for (const CpuComparison& cpu : result.cpus) {
    if (!cpu.is_run()) {
      result.failures.push_back(fmt::format("not executed on {}: {}", cpu.cpu, cpu.why_not));
    } else if (!cpu.is_same()) {
      result.failures.push_back(fmt::format(
          "outputs on {} differ from those on this CPU: {:.1f} dB SQNR, {} of {} predictions changed",
          cpu.cpu, cpu.sqnr_db, cpu.flips, cpu.answers));
    }
  }
  result.passed = result.failures.empty();
  result.verdict = result.passed ? "passed: " + nearest.text : "failed: " + result.failures.front();
  if (result.failures.size() > 1) result.verdict += fmt::format(" (and {} more)", result.failures.size() - 1);
}

}  // namespace ounce::evaluate
