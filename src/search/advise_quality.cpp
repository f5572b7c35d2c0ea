#include "search/advise_quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/gates.h"
#include "measure/worst_output.h"
#include "search/advise_rules.h"

namespace ounce::search {
namespace {

double sqnr_limit(const AdviseOptions& options, const FamilyFinding& family) {
  return options.min_sqnr.value_or(family.family == ModelFamily::kAudioGenerator ? kFineSqnr : kUsualSqnr);
}

// Points for accuracies, a share of the original's value for errors and likelihoods.
std::string drop_text(const MetricResult& metric, double limit) {
  if (std::isnan(metric.drop))
    return fmt::format("{} was not measured: {}", metric.name,
                       metric.why_not.empty() ? "no label counts" : metric.why_not);
  const double change = 100 * (metric.higher_is_better ? metric.drop : measure::loss_of(metric));
  const char* unit = metric.higher_is_better ? "points" : "%";
  if (std::fabs(change) < 0.005) return fmt::format("{} unchanged at {:.4f}", metric.name, metric.candidate);
  return fmt::format("{} {} by {:.2f} {} to {:.4f}, {:.2f} allowed", metric.name,
                     change > 0 ? "worse" : "better", std::fabs(change), unit, metric.candidate, 100 * limit);
}

}  // namespace

bool has_metric(const AdviseOptions& options) {
  return !options.data.labels.empty() || options.task != Task::kAuto || options.metric_command.is_given();
}

bool judges_by_answers(const AdviseOptions& options, const FamilyFinding& family,
                       const std::optional<double>& agreement) {
  if (!agreement || options.data.is_generated() || has_metric(options) || options.min_sqnr) return false;
  // Boxes are answers too, but most of them are of nothing and always agree.
  return family.family != ModelFamily::kDetector && family.family != ModelFamily::kAudioGenerator;
}

Gates gates_for(const AdviseOptions& options, const FamilyFinding& family) {
  Gates gates;
  if (has_metric(options)) {
    gates.max_drop = options.max_drop;
    gates.min_sqnr = options.min_sqnr;
  } else {
    gates.min_sqnr = sqnr_limit(options, family);
  }
  return gates;
}

void judge(const AdviseOptions& options, const FamilyFinding& family, const VerifyResult& compared,
           MethodFinding& finding) {
  finding.sqnr_db = measure::worst_sqnr(compared.outputs);
  finding.agreement = measure::least_agreement(compared.outputs);
  std::uint64_t broken = 0;
  for (const OutputComparison& output : compared.outputs)
    broken += measure::is_judged(output) ? output.newly_not_finite : 0;
  if (!compared.metrics.empty()) finding.metric = compared.metrics.front();
  if (broken != 0) {
    finding.quality = fmt::format("{} values became NaN or infinite", broken);
    return;
  }
  if (finding.metric) {
    finding.is_acceptable = compared.passed;
    finding.quality = drop_text(*finding.metric, options.max_drop);
  } else if (judges_by_answers(options, family, finding.agreement)) {
    finding.is_acceptable = *finding.agreement >= kLeastAgreement;
    finding.quality =
        fmt::format("{:.2f} % same answers, {:.0f} wanted", 100 * *finding.agreement, 100 * kLeastAgreement);
  } else {
    finding.is_acceptable = compared.passed;
    finding.quality =
        std::isnan(finding.sqnr_db) ? "neither model detects anything in these samples"
        : finding.sqnr_db == std::numeric_limits<double>::infinity()
            ? "identical"
            : fmt::format("{:.1f} dB, {:.0f} wanted", finding.sqnr_db, sqnr_limit(options, family));
  }
}

}  // namespace ounce::search
