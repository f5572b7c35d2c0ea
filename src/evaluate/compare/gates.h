// The decision: which gates passed, which failed, and which one was nearest to its limit.
#pragma once

#include <ounce/verify.h>

namespace ounce::evaluate {

// The note about the default gate for data with labels.
inline constexpr const char* kDefaultDropNote =
    "no gate was given: as there are labels, the metric may lose 1 point (1 % of an error or of nll): "
    "`gates.max_drop` says otherwise";

// The agreement that value gates require of labels.
inline constexpr double kDefaultAgreement = 0.99;

bool has_any(const Gates& gates);
// The loss of a metric as `gates.max_drop` counts it: points of a share, a share of the reference's error (of
// the labels' size if the reference has none), or a plain number if there is no scale.
double loss_of(const MetricResult& metric);
double loss_scale(const MetricResult& metric);  // what the drop is a share of
// Throws Error{kUsage} for an invalid confidence.
void require_confidence(const Gates& gates);

// Sets passed, verdict, failures and certainty from the measured values.
void judge(const Gates& gates, VerifyResult& result);

}  // namespace ounce::evaluate
