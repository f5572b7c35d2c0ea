#include "search/advise/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/quality.h"
#include "evaluate/compare/gates.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/timing/rounds.h"
#include "recipe/format_info.h"

namespace ounce::search {
namespace {

std::string size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) return fmt::format("{:.{}f} kB", value / 1e3, value < 1e4 ? 1 : 0);
  return fmt::format("{:.{}f} MB", value / 1e6, value < 1e8 ? 1 : 0);
}

std::string speed_text(const MethodFinding& method) {
  if (!method.is_timed()) {
    const bool is_busy = method.speed_up.rounds != 0 && !method.speed_up.is_reliable;
    return is_busy ? "not timed (the machine was too busy)" : "not timed";
  }
  return method.speed_up.is_measurable ? fmt::format("{:.2f}× as fast", method.speed_up.ratio)
                                       : "as fast as the original";
}

constexpr double kMostOfferedDrop = 5;  // points of a metric

// Formats a budget as the command line reads it.
std::string budget_text(double seconds) {
  const double minutes = seconds / 60;
  if (seconds >= 120 && minutes == std::floor(minutes)) return fmt::format("{:.0f}m", minutes);
  return fmt::format("{:g}s", seconds);
}

// Returns the fastest worthwhile method that is acceptable, or that loses too much; the smaller one of two
// with about the same speed.
const MethodFinding* fastest(const AdviseResult& result, bool is_acceptable) {
  const MethodFinding* best = nullptr;
  for (const MethodFinding& method : result.methods) {
    if (!method.is_faster(kWorthwhileSpeed) || method.is_acceptable != is_acceptable || method.is_uncertain)
      continue;
    if (best == nullptr) best = &method;
    const double ratio = method.speed_up.ratio / best->speed_up.ratio;
    if (ratio > evaluate::kClearlyFaster ||
        (method.bytes < best->bytes && ratio * evaluate::kClearlyFaster > 1))
      best = &method;
  }
  return best;
}

// Returns the smallest acceptable weight-only format that is not slower. Prefers formats that were timed.
// Without a metric, 4 bits need a higher SQNR.
const MethodFinding* smallest(const AdviseResult& result) {
  const MethodFinding* best = nullptr;
  for (const MethodFinding& method : result.methods) {
    const bool is_slower =
        method.is_timed() && method.speed_up.is_measurable && method.speed_up.ratio * kWorthwhileSpeed < 1;
    if (!method.is_measured || !is_storage(method.format) || !method.is_acceptable || is_slower) continue;
    const bool is_bold = method.format == weight_only(4) && !method.metric && method.sqnr_db < Quality::kGood;
    if (is_bold || method.ratio > kWorthwhileSize) continue;
    const auto rank = [](const MethodFinding& one) { return std::pair(!one.is_timed(), one.bytes); };
    if (best == nullptr || rank(method) < rank(*best)) best = &method;
  }
  return best;
}

class Deciding {
 public:
  Deciding(const AdviseOptions& options, AdviseResult& result)
      : options_(options), result_(result), commands_(options, result) {}

  void run() {
    if (leave_what_has_nothing()) return;
    const MethodFinding* best = fastest(result_, true);
    const MethodFinding* lossy = fastest(result_, false);
    const MethodFinding* small = smallest(result_);
    if (lossy != nullptr && !can_tune(*lossy)) lossy = nullptr;
    if (best != nullptr) {
      quantize(*best);
      // A lossy method is much faster: tuning may find a model with most of its speed.
      if (lossy != nullptr && lossy->speed_up.ratio > kWorthwhileSpeed * best->speed_up.ratio)
        offer_tuning(*lossy);
    } else if (lossy != nullptr) {
      tune(*lossy);
    } else if (small != nullptr && result_.size != SizeClass::kSmall) {
      store(*small);
    } else if (const MethodFinding* open = most_promising()) {
      wait_for(*open);
    } else if (needs_data()) {
      wait_for_data();
    } else {
      leave_as_not_worth_it();
    }
  }

 private:
  bool leave_what_has_nothing() {
    const FamilyFinding& family = result_.family;
    if (family.family == ModelFamily::kTrees) {
      leave("a tree or classical model has no weights to quantize");
      say("Rounding its thresholds would send samples to other branches and save no arithmetic.");
      say("Use fewer or shallower trees to make it smaller and faster.");
    } else if (family.is_quantized) {
      leave("the model is already quantized");
      say("To get another format, start from the FP32 model.");
    } else if (family.weight_bytes == 0) {
      leave("there are no weights to quantize");
      say(fmt::format("None of its {} op types has weights, so there is nothing to compress.",
                      family.ops.size()));
    } else {
      return false;
    }
    return true;
  }

  bool can_tune(const MethodFinding& method) const {
    return !options_.data.is_generated() && method.sqnr_db > Quality::kHopeless && !is_storage(method.format);
  }

  void quantize(const MethodFinding& best) {
    result_.verdict = AdviceVerdict::kQuantize;
    result_.headline = fmt::format("quantize: {} is {} and {:.0f} % of the size; {}{}", name_of(best.format),
                                   speed_text(best), 100 * best.ratio, best.quality, on_what());
    if (result_.size == SizeClass::kSmall) {
      say(fmt::format("The model is small ({}): speed is the reason to quantize it, not size.",
                      size_text(result_.bytes)));
    } else {
      say(fmt::format("The model shrinks from {} to {} and gets faster.", size_text(result_.bytes),
                      size_text(best.bytes)));
    }
    say(why(best));
    offer(best);
  }

  // The arithmetic of the method, for the reasons.
  std::string why(const MethodFinding& best) const {
    const std::size_t all = best.integer_nodes + best.float_nodes;
    if (is_static(best.format)) {
      return fmt::format("{} of {} ops run in INT8, with scales from {} calibration samples.",
                         best.integer_nodes, all, result_.calibration_samples);
    }
    if (is_dynamic(best.format)) {
      return fmt::format(
          "{} of {} ops run in INT8, with scales computed at run time: no calibration data is needed, and "
          "Softmax, normalization and masks are kept in FP32.",
          best.integer_nodes, all);
    }
    return "Arithmetic is the same as in the original.";
  }

  void tune(const MethodFinding& lossy) {
    result_.verdict = AdviceVerdict::kQuantize;
    const std::string_view name = name_of(lossy.format);
    result_.headline = fmt::format("quantize in part: {} is {} but loses too much ({}); use `tune()`", name,
                                   speed_text(lossy), lossy.quality);
    if (result_.family.family == ModelFamily::kAudioGenerator) {
      say(fmt::format("Its output is audio: {} in all layers adds audible noise.", name));
    } else {
      say(fmt::format("{} in all layers is faster but loses more quality than allowed.", name));
    }
    say("Usually a few layers cause most of the error: with these in FP32, the model may keep most of the "
        "speed.");
    result_.commands.push_back(
        {commands_.tune(), "find the fastest mixed-precision model with that quality"});
    result_.commands.push_back({commands_.verify_tuned(), "verify it on held-out samples"});
    offer_storage("if tuning finds none: a smaller file with the same arithmetic");
  }

  void store(const MethodFinding& small) {
    result_.verdict = AdviceVerdict::kStoreSmall;
    const bool is_same_speed = small.is_timed() && !small.speed_up.is_measurable;
    result_.headline =
        fmt::format("compress the weights only: {} is {:.0f} % of the size{}; {}{}", name_of(small.format),
                    100 * small.ratio, is_same_speed ? " at the same speed" : ", " + speed_text(small),
                    small.quality, on_what());
    say(fmt::format("The model shrinks from {} to {}.", size_text(result_.bytes), size_text(small.bytes)));
    say(integer_results());
    if (const MethodFinding* open = most_promising()) say_samples_needed(*open);
    offer(small);
  }

  // True if more time, more samples or an idle machine could make this method the recommendation.
  bool is_open(const MethodFinding& method) const {
    if (!method.is_measured) return method.is_out_of_time;
    const bool could_be_faster = !method.is_timed() || method.is_faster(kWorthwhileSpeed);
    if (method.is_acceptable || method.is_uncertain) return could_be_faster;
    return !method.is_timed() && can_tune(method);
  }

  // Returns the most promising undecided method. Weight compression alone does not justify quantizing a small
  // model.
  const MethodFinding* most_promising() const {
    const MethodFinding* best = nullptr;
    for (const MethodFinding& method : result_.methods) {
      const bool is_storing = is_storage(method.format);
      if (is_storing && result_.size == SizeClass::kSmall) continue;
      // FP16 is only faster with an execution provider that runs in FP16.
      if (is_half(method.format) && method.format != result_.methods.front().format) continue;
      const bool lacks_samples_to_store =
          is_storing && method.is_uncertain && method.ratio <= kWorthwhileSize;
      if (!is_open(method) && !lacks_samples_to_store) continue;
      const auto rank = [](const MethodFinding& one) {
        return std::tuple(one.is_faster(kWorthwhileSpeed), one.is_measured, is_integer(one.format));
      };
      if (best == nullptr || rank(method) > rank(*best)) best = &method;
    }
    return best;
  }

  // True if static INT8 was not tried for lack of calibration data.
  bool needs_data() const {
    return options_.data.is_generated() && result_.family.family != ModelFamily::kMlp;
  }

  void wait_for(const MethodFinding& open) {
    const std::string_view name = name_of(open.format);
    const bool has_faster = open.is_faster(kWorthwhileSpeed);
    if (open.is_measured && open.is_uncertain && (has_faster || is_storage(open.format))) {
      leave_open(has_faster ? fmt::format("{} is {}, but its quality is uncertain: {}", name,
                                          speed_text(open), open.quality)
                            : fmt::format("the quality of {} is uncertain: {}", name, open.quality));
    } else if (open.is_measured && open.speed_up.rounds != 0 && !open.speed_up.is_reliable) {
      leave_open(fmt::format("the machine was too busy to time {}; run again when it is idle", name));
    } else if (is_unmeasured()) {
      leave_open(fmt::format("{:g} s was too short to test any method{}", result_.budget, run_again()));
    } else {
      leave_open(fmt::format("{:g} s was too short to {} {}{}", result_.budget,
                             open.is_measured ? "time" : "test", name, run_again()));
    }
    say(integer_results());
    say_samples_needed(open);
    if (has_faster) {
      offer(open, "quantize", "verify it with more samples");
    } else {
      offer_storage("if the download size matters");
    }
  }

  void wait_for_data() {
    leave_open("int8 may be faster but needs calibration data: give `data`");
    say(integer_results());
    offer_storage("if the download size matters");
  }

  std::string run_again() const {
    if (result_.budget_needed == 0) return "";
    return fmt::format("; run again with `budget={}`", budget_text(result_.budget_needed));
  }

  // Names the number of samples that the required confidence takes, or the budget if the data has enough.
  void say_samples_needed(const MethodFinding& method) {
    if (!method.is_uncertain || method.samples_needed == 0) return;
    const bool is_half = info_of(method.format).needs_data;
    const std::uint64_t needed = method.samples_needed * (is_half ? 2 : 1);
    const double confidence = 100 * result_.confidence;
    if (needed <= result_.samples) {
      say(fmt::format("{} was compared on {} samples; {:g} % confidence needs {}{}.", name_of(method.format),
                      method.samples, confidence, method.samples_needed, run_again()));
      return;
    }
    say(fmt::format("{:g} % confidence needs about {} samples{}{}.", confidence, needed,
                    is_half ? ", half of them for the calibration of int8" : "", shown_drop(method)));
  }

  // Names the loss that these samples can rule out, if it is small enough to be a useful threshold.
  static std::string shown_drop(const MethodFinding& method) {
    if (!method.metric || method.metric->unit != MetricUnit::kShare) return "";
    const double points = std::ceil(1000 * method.metric->drop_bound.value_or(1)) / 10;
    if (!(points > 0 && points <= kMostOfferedDrop)) return "";
    return fmt::format("; these samples show a loss of at most {:g} points, which `max_drop={:g}%` allows",
                       points, points);
  }

  void leave_as_not_worth_it() {
    if (result_.size != SizeClass::kSmall) {
      leave("no measured method is both useful and accurate enough");
    } else {
      leave(
          fmt::format("the model is small ({}), and no accurate method is faster", size_text(result_.bytes)));
    }
    say(integer_results());
    if (result_.size == SizeClass::kSmall) say("Quantization would shrink the file but not speed it up.");
    offer_storage("if the download size matters");
  }

  // True if no method was measured.
  bool is_unmeasured() const {
    const auto& methods = result_.methods;
    return std::none_of(methods.begin(), methods.end(),
                        [](const auto& method) { return method.is_measured; });
  }

  // The results of the methods that run in INT8.
  std::string integer_results() const {
    std::vector<std::string> parts;
    for (const MethodFinding& method : result_.methods) {
      if (!is_integer(method.format)) continue;
      if (method.is_out_of_time) parts.push_back(fmt::format("{} was not tested", name_of(method.format)));
      if (!method.is_measured) continue;
      const std::string quality = method.is_acceptable ? ""
                                  : method.is_uncertain
                                      ? fmt::format(", quality uncertain ({})", method.quality)
                                      : fmt::format(" and loses too much ({})", method.quality);
      parts.push_back(fmt::format("{} is {}{}", name_of(method.format), speed_text(method), quality));
    }
    if (options_.data.is_generated())
      parts.emplace_back("int8 was not tested because it needs calibration data (`data`)");
    if (parts.empty()) return "No method that runs in INT8 could be measured.";
    return fmt::format("INT8 arithmetic: {}.", fmt::join(parts, "; "));
  }

  void offer(const MethodFinding& method, const char* make = "quantize",
             const char* verify = "verify it on your data") {
    result_.commands.push_back({commands_.quantize(method.format), make});
    if (!result_.is_generated) result_.commands.push_back({commands_.verify(method.format), verify});
  }

  void offer_tuning(const MethodFinding& lossy) {
    result_.commands.push_back(
        {commands_.tune(), fmt::format("or tune for more speed: {} is {}, but {}", name_of(lossy.format),
                                       speed_text(lossy), lossy.quality)});
    result_.commands.push_back({commands_.verify_tuned(), "verify it on held-out samples"});
  }

  void offer_storage(const std::string& why) {
    const MethodFinding* small = smallest(result_);
    if (small == nullptr) return;
    result_.commands.push_back({commands_.quantize(small->format),
                                fmt::format("{} ({:.0f} %; {})", why, 100 * small->ratio, small->quality)});
  }

  const char* on_what() const { return result_.is_generated ? " (on random inputs)" : ""; }

  void leave_open(const std::string& why) {
    result_.verdict = AdviceVerdict::kUnknown;
    result_.headline = "no recommendation yet: " + why;
  }

  void leave(const std::string& why) {
    result_.verdict = AdviceVerdict::kLeave;
    result_.headline = "do not quantize: " + why;
  }
  void say(std::string sentence) { result_.reasons.push_back(std::move(sentence)); }

  const AdviseOptions& options_;
  AdviseResult& result_;
  CommandWriter commands_;
};

}  // namespace

void decide(const AdviseOptions& options, AdviseResult& result) { Deciding(options, result).run(); }

namespace {

// Describes a change of a metric: in points for shares, in percent for errors and likelihoods, else in the
// metric's unit.
std::string drop_text(const MetricResult& metric, double limit) {
  if (std::isnan(metric.drop))
    return fmt::format("{} was not measured: {}", metric.name,
                       metric.why_not.empty() ? "no usable labels" : metric.why_not);
  const bool is_plain = metric.unit == MetricUnit::kAbsolute || metric.unit == MetricUnit::kDecibel;
  if (is_plain && metric.drop != 0)
    return fmt::format("{} {} by {:.4g}{} to {:.4f}, {:.4g} allowed", metric.name,
                       metric.drop > 0 ? "worse" : "better", std::fabs(metric.drop),
                       metric.unit == MetricUnit::kDecibel ? " dB" : "", metric.candidate, limit);
  const double change = 100 * evaluate::loss_of(metric);
  const char* unit = metric.unit == MetricUnit::kShare ? "points" : "%";
  if (std::fabs(change) < 0.005) return fmt::format("{} unchanged at {:.4f}", metric.name, metric.candidate);
  return fmt::format("{} {} by {:.2f} {} to {:.4f}, {:.2f} allowed", metric.name,
                     change > 0 ? "worse" : "better", std::fabs(change), unit, metric.candidate, 100 * limit);
}

std::string quality_text(const Gates& gates, const MethodFinding& finding) {
  if (finding.metric) return drop_text(*finding.metric, gates.max_drop.value_or(0));
  if (gates.min_agreement && finding.agreement)
    return fmt::format("{:.2f} % of predictions agree, {:.4g} required", 100 * *finding.agreement,
                       100 * *gates.min_agreement);
  if (std::isnan(finding.sqnr_db)) return "neither model detects anything in these samples";
  if (finding.sqnr_db == std::numeric_limits<double>::infinity()) return "identical";
  return fmt::format("{:.1f} dB, {:.4g} required", finding.sqnr_db,
                     gates.min_sqnr.value_or(Quality::kMinUsable));
}

// Number of samples that contain an event of frequency `share` with this confidence.
std::uint64_t samples_to_show(double share, double confidence) {
  if (!(share > 0 && share < 1)) return 1;
  return static_cast<std::uint64_t>(std::ceil(std::log(1 - confidence) / std::log(1 - share) - 1e-9));
}

}  // namespace

Gates gates_for(const AdviseOptions& options, const FamilyFinding& family, double answers) {
  Gates gates;
  gates.min_sqnr = options.min_sqnr;
  if (evaluate::has_metric(options)) {
    gates.max_drop = options.max_drop;
    return gates;
  }
  if (gates.min_sqnr) return gates;
  // Not for detectors: most of their predictions are background and always agree. Not for random inputs: they
  // belong to no class.
  const bool is_classifier = answers > 0 && !options.data.is_generated() &&
                             family.family != ModelFamily::kDetector &&
                             family.family != ModelFamily::kAudioGenerator;
  if (is_classifier &&
      answers >= static_cast<double>(samples_to_show(1 - kLeastAgreement, kUsualConfidence))) {
    gates.min_agreement = kLeastAgreement;
  } else {
    const bool is_fine = is_classifier || family.family == ModelFamily::kAudioGenerator;
    gates.min_sqnr = is_fine ? Quality::kGood : Quality::kMinUsable;
  }
  return gates;
}

std::uint64_t least_samples(const Gates& gates, double confidence) {
  std::uint64_t least = kLeastForNoise;
  if (gates.max_drop) least = std::max(least, samples_to_show(*gates.max_drop, confidence));
  if (gates.min_agreement) least = std::max(least, samples_to_show(1 - *gates.min_agreement, confidence));
  return least;
}

void judge(const Gates& gates, const VerifyResult& compared, MethodFinding& finding) {
  finding.sqnr_db = evaluate::worst_sqnr(compared.outputs);
  finding.agreement = evaluate::least_agreement(compared.outputs);
  finding.samples = compared.samples;
  finding.samples_needed = 0;
  finding.is_acceptable = finding.is_uncertain = false;
  std::uint64_t broken = 0;
  for (const OutputComparison& output : compared.outputs)
    broken += evaluate::is_judged(output) ? output.newly_not_finite : 0;
  if (!compared.metrics.empty()) finding.metric = compared.metrics.front();
  if (broken != 0) {
    finding.quality = fmt::format("{} values became NaN or infinite", broken);
    return;
  }
  const bool has_two_gates = gates.max_drop && gates.min_sqnr;
  finding.quality =
      has_two_gates && !compared.failures.empty() ? compared.failures.front() : quality_text(gates, finding);
  // Confidence does not apply to random inputs, which represent no distribution.
  finding.is_acceptable = compared.passed && (compared.are_bounds_good || compared.is_generated);
  if (finding.is_acceptable && !compared.unbounded.empty())
    finding.quality += "; no confidence bound beyond these samples";
  finding.is_uncertain = compared.passed && !finding.is_acceptable;
  if (!finding.is_uncertain) return;
  finding.samples_needed = compared.samples_needed;
  finding.quality += finding.samples_needed == 0 ? fmt::format("; {} samples are too few", finding.samples)
                                                 : fmt::format("; {} samples needed, {} given",
                                                               finding.samples_needed, finding.samples);
}

}  // namespace ounce::search
