// Judges a comparison by its gates (thresholds): which ones passed, which failed, and which was nearest to
// its limit.
#pragma once

#include <ounce/verify.h>

namespace ounce::evaluate {

// The note about the default threshold for data with labels.
inline constexpr const char* kDefaultDropNote =
    "no threshold was given: with labels, the metric may drop by 1 point (1 % of an error or of nll); "
    "set another limit with `gates.max_drop`";

// The share of unchanged labels that is required in place of value gates.
inline constexpr double kDefaultAgreement = 0.99;

bool has_any(const Gates& gates);
// The gates with the thresholds of GateSet::kStandard, for a candidate whose weights have this number of
// bits.
Gates with_standard(Gates gates, unsigned weight_bits, bool has_metric);
// The drop of a metric in the unit of `gates.max_drop`: points for a share, a fraction of the reference's
// error (or of the labels' size if that error is almost zero), or a plain number if there is no scale.
double loss_of(const MetricResult& metric);
double loss_scale(const MetricResult& metric);  // drop = loss_of() · loss_scale()
// Throws Error{kUsage} for an invalid confidence.
void require_confidence(const Gates& gates);

// Sets passed, verdict, failures and certainty from the measured values.
void judge(const Gates& gates, VerifyResult& result);

}  // namespace ounce::evaluate
