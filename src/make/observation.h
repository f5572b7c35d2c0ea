// One pass over the data that looks at the inner values of a model.
#pragma once

#include <ounce/calibrate.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "observe/ranges.h"
#include "onnx/model.h"

namespace ounce::make {

struct Observation {
  observe::Ranges ranges;
  // Of every second batch alone, beginning with the first one, when there are enough of them: what is decided
  // by these ranges can be judged on the other batches. None where a state goes from sample to sample.
  std::optional<observe::Ranges> half;
  std::vector<std::string> notes;
  std::optional<observe::Coverage> covers;  // which samples of the data; nothing for made-up inputs
};

// What is looked at: the values that integer arithmetic may want ranges of, or all floats.
enum class Watching { kForIntegers, kAllFloats };

// Checks the options before the work. Throws Error{kUsage}.
void require_observable(const CalibrateOptions& options, const std::filesystem::path& source);

// `model` is looked at as it is: what will be quantized. `source` is where it came from: its contract holds,
// and people know it. Throws Error{kUsage} for options that make no sense, Error{kUnsupported} when nothing
// can be observed.
Observation observe_activations(onnx::Model model, const std::filesystem::path& source,
                                const CalibrateOptions& options, Watching watching);

}  // namespace ounce::make
