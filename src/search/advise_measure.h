// What each method brings, measured on the model within a budget of time.
//
// The original is timed alone first. Then each method in turn makes a model in a temporary folder, which is
// compared with the original; in the end all of them are timed against it in one interleaved run. What a step
// will take is estimated from what the steps before took, and one that would not fit is left out. So is
// anything that the budget has to be kept for: the timing in the end.
#pragma once

#include <ounce/advise.h>

#include <filesystem>

#include "base/stopwatch.h"

namespace ounce::search {

// Fills in the baseline, the methods, the numbers of samples and the notes. `clock` runs since the start.
void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result);

}  // namespace ounce::search
