// The decision: which gates hold, which do not, and which one was nearest.
#pragma once

#include <ounce/verify.h>

namespace ounce::evaluate {

// Said where labels bring a gate that nobody gave.
inline constexpr const char* kDefaultDropNote =
    "no gate was given: as there are labels, the metric may lose 1 point (1 % of an error or of nll): "
    "`gates.max_drop` says otherwise";

// What value gates require of outputs that are labels.
inline constexpr double kDefaultAgreement = 0.99;

bool has_any(const Gates& gates);
// What a metric loses, as `gates.max_drop` counts it: points of a share, a share of the reference's error (of
// the labels' size, where the reference makes none), or a plain number where nothing gives a scale.
double loss_of(const MetricResult& metric);
double loss_scale(const MetricResult& metric);  // what the drop is a share of
// Throws Error{kUsage} when the confidence is none.
void require_confidence(const Gates& gates);

// Fills in passed, verdict and failures, and what is certain, from what has been measured.
void judge(const Gates& gates, VerifyResult& result);

}  // namespace ounce::evaluate
