// How far a model is off, as one number: that of the output that is farthest from the original's, or of the
// slice of one (measure/slices.h) that is.
//
// States do not count: they are seen in what the next runs make of them. Outputs that are no floats (classes,
// counts) count only where there are no floats, as they are seen in the scores beside them.
#pragma once

#include <ounce/verify.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ounce::measure {

// Is it given back to the model in its next run?
bool is_state(const std::map<std::string, std::string>& carry, const std::string& output);

// dB; minus infinity when values are not finite any more, infinity when nothing differs.
double worst_sqnr(const std::vector<OutputComparison>& outputs);
// The slice that this is the figure of; null when it is that of a whole output.
const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs);
// The same as noise over signal.
double worst_noise(const std::vector<OutputComparison>& outputs);

// The smallest share of same top-1 answers; nothing when no output has classes.
std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs);

}  // namespace ounce::measure
