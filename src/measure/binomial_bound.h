// What a number of samples tells about all others: bounds that hold with a given confidence.
#pragma once

#include <ounce/verify.h>

namespace ounce::measure {

// Clopper and Pearson's exact bounds of a share, one-sided: the true share is at most (at least) this, unless
// something has happened that happens less often than 1 − confidence. Numbers need not be whole.
double binomial_upper(const Tally& events, double confidence);
double binomial_lower(const Tally& events, double confidence);

// The bound of a difference of two shares of the same answers, such as answers lost less answers won: each
// share's distance from its own exact bound, added like independent errors. With nothing won it is the exact
// bound of what is lost.
double paired_upper(const Tally& lost, const Tally& won, double confidence);

double normal_quantile(double share);
double student_quantile(double share, double freedom);

}  // namespace ounce::measure
