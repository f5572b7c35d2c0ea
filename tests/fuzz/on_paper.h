// Runs all steps of quantize() except running and writing the model.
//
//   integers_on_paper(bytes, recipe, pool);   // throws Error for models that are refused
#pragma once

#include <ounce/recipe.h>

#include <string>

#include "base/thread_pool.h"

namespace ounce::test {

// Static and dynamic arithmetic, on ranges that are made up.
void integers_on_paper(const std::string& bytes, const Recipe& recipe, ThreadPool& pool);
// 16-bit floats.
void halves_on_paper(const std::string& bytes, const Recipe& recipe, ThreadPool& pool);

}  // namespace ounce::test
