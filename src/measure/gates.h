// The decision: which gates hold, which do not, and which one was nearest.
#pragma once

#include <ounce/verify.h>

namespace ounce::measure {

// Without any gate of the user's, every output must come within this.
inline constexpr double kDefaultSqnr = 20;  // dB

// Fills in passed, verdict and failures from what has been measured.
void judge(const Gates& gates, VerifyResult& result);

}  // namespace ounce::measure
