// Selects the operators of a static plan that take less time in FP32, including the conversions between FP32
// and INT8, by a minimum cut (plan/float_choice/min_cut.h) over the operators that have an INT8 kernel.
// XNNPACK's kernels for INT8 are faster than those for FP32; the built-in ones that run what XNNPACK does not
// take are slower, and end the part of the graph that it runs.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "calibration/ranges.h"
#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/flow.h"
#include "formats/tflite/plan/integer_candidates.h"
#include "plan/float_choice/frontier.h"

namespace ounce::tflite {

// The operators with an INT8 kernel that are faster in FP32. No operator, if the saving is below the error of
// the estimates.
std::vector<bool> faster_in_floats(const Model& model, const Flow& flow,
                                   const std::vector<IntegerCandidate>& candidates,
                                   const std::vector<bool>& is_integer, const calibration::Ranges& ranges);

// From the fastest assignment to the one with all operators in FP32. `noise`: that operators bring to the
// outputs in INT8; infinite: it stays in FP32. If INT8 saves less time than such estimates can tell, or if
// the cost model is not used, only FP32 times count.
std::vector<plan::Division> float_divisions(const Model& model, const Flow& flow,
                                            const std::vector<IntegerCandidate>& candidates,
                                            const std::vector<bool>& is_integer,
                                            const calibration::Ranges& ranges, const plan::Prices& noise,
                                            bool uses_cost_model);

// Multiplications of an operator for one sample; 0 where it has no weights.
double multiplications(const Model& model, const Flow& flow, std::size_t op,
                       const IntegerCandidate& candidate, const calibration::Ranges& ranges);

}  // namespace ounce::tflite
