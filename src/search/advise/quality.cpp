#include "search/advise/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quality.h"
#include "evaluate/compare/gates.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_info.h"
#include "search/advise/methods.h"

namespace ounce::search {
namespace {

// Points for shares, a share of the original's value for errors and likelihoods, else plain numbers.
std::string drop_text(const MetricResult& metric, double limit) {
  if (std::isnan(metric.drop))
    return fmt::format("{} was not measured: {}", metric.name,
                       metric.why_not.empty() ? "no label counts" : metric.why_not);
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
    return fmt::format("{:.2f} % same predictions, {:.4g} wanted", 100 * *finding.agreement,
                       100 * *gates.min_agreement);
  if (std::isnan(finding.sqnr_db)) return "neither model detects anything in these samples";
  if (finding.sqnr_db == std::numeric_limits<double>::infinity()) return "identical";
  return fmt::format("{:.1f} dB, {:.4g} wanted", finding.sqnr_db,
                     gates.min_sqnr.value_or(Quality::kMinUsable));
}

// Events with this share would have shown up in so many samples, with this confidence.
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
  // Boxes are predictions too, but most of them are of nothing and always agree; random inputs are none of
  // the classes.
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
  // Random inputs are no sample of anything, so there is nothing to be certain of.
  finding.is_acceptable = compared.passed && (compared.are_bounds_good || compared.is_generated);
  if (finding.is_acceptable && !compared.unbounded.empty())
    finding.quality += "; on these samples, without a bound";
  finding.is_uncertain = compared.passed && !finding.is_acceptable;
  if (!finding.is_uncertain) return;
  finding.samples_needed = compared.samples_needed;
  finding.quality += finding.samples_needed == 0 ? fmt::format("; {} samples do not show it", finding.samples)
                                                 : fmt::format("; {} samples needed, {} given",
                                                               finding.samples_needed, finding.samples);
}

}  // namespace ounce::search
