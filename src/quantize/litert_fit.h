// Fits a TFLite recipe to the release of LiteRT or TensorFlow Lite that Recipe::target names: operators that
// the release does not run in the planned form stay in FP32, by the measured support matrix.
//
//   recipe = fit_to_litert(work, recipe, pool, notes);     // `work` has the plans of the result
#pragma once

#include <ounce/recipe.h>

#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace ounce::quantization {

struct TfliteWork;

// Adds to Recipe::nodes. Throws Error{kUsage} for an unknown target.
Recipe fit_to_litert(TfliteWork& work, const Recipe& recipe, ThreadPool& pool,
                     std::vector<std::string>& notes);

}  // namespace ounce::quantization
