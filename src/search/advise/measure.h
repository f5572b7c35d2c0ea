// What each method brings, measured on the model within a budget of time.
//
// The original is timed alone first. Then each method in turn makes a model in a temporary folder, which is
// compared with the original and timed against it (advise_schedule.h). The duration of a step is estimated
// from the steps before, and a step that would not fit is left out.
#pragma once

#include <ounce/advise.h>

#include <filesystem>

#include "base/machine.h"

namespace ounce::search {

// Fills in the baseline, the methods, the numbers of samples and the notes. `clock` runs since the start.
void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result);

}  // namespace ounce::search
