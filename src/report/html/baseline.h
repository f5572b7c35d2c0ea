// Compares a run with the document of an earlier run, such as that of the last release.
//
//   const Json compared = compare_with(baseline, document, 0.01);
//   // [{"model": "m.w8.onnx", "figure": "speed", "before": 2.1, "now": 1.8, "allowed": 2.08, "passed":
//   false, …}]
#pragma once

#include "report/html/document.h"

namespace ounce::report::html {

// Compares each model of `document` that `baseline` has, too, by file name: size, memory and speed relative
// to the original may be worse by this share; the drop of the metric and the agreement by this many points.
// Throws Error{kBadInput} if no model is in both.
Json compare_with(const Json& baseline, const Json& document, double tolerance);

bool is_worse(const Json& compared);
// "baseline: passed", or a line for each figure that is worse.
std::string baseline_text(const Json& compared);

}  // namespace ounce::report::html
