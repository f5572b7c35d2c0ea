// How far a model is off, as one number: that of the output that is farthest from the original's, or of the
// slice of one (evaluate/compare/slices.h) that is.
//
// States do not count, because they show in the outputs of the next runs; nor do outputs that nobody wants to
// be judged. Labels (classes, counts) count only where there are no numbers: the scores beside them tell
// more.
#pragma once

#include <ounce/verify.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ounce::evaluate {

// Is it given back to the model in its next run?
bool is_state(const std::map<std::string, std::string>& carry, const std::string& output);

// Is it one of the outputs to judge? An empty list is all of them.
bool is_wanted(const std::vector<std::string>& outputs, const std::string& output);
// Does a gate apply to it?
inline bool is_judged(const OutputComparison& output) { return !output.is_state && output.is_judged; }

// Throws Error{kUsage}, with the names that there are, when a model has no output of one of these names.
void require_outputs(const std::vector<std::string>& wanted, const std::filesystem::path& model);

// dB; minus infinity when values are not finite any more, infinity when nothing differs, NaN when a detector
// finds nothing in any sample.
double worst_sqnr(const std::vector<OutputComparison>& outputs);
// The slice that this is the figure of; null when it is that of a whole output.
const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs);
// The same as noise over signal; 0 where a detector finds nothing.
double worst_noise(const std::vector<OutputComparison>& outputs);

// The smallest share of same answers; nothing when no output has classes or is labels.
std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs);

}  // namespace ounce::evaluate
