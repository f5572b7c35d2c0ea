// One pass over the data that looks at the inner values of a model.
#pragma once

#include <ounce/calibrate.h>

#include <filesystem>
#include <string>
#include <vector>

#include "observe/ranges.h"

namespace ounce::make {

struct Observation {
  observe::Ranges ranges;
  std::vector<std::string> notes;
};

// What is looked at: the values that integer arithmetic may want ranges of, or all floats.
enum class Watching { kForIntegers, kAllFloats };

// Throws Error{kUsage} for options that make no sense, Error{kUnsupported} when nothing can be observed.
Observation observe_activations(const std::filesystem::path& model, const CalibrateOptions& options,
                                Watching watching = Watching::kForIntegers);

}  // namespace ounce::make
