// Takes the mean error that rounding the weights makes in every output channel out of its bias.
//
//   error[o] = Σ (w - w')[o, c, …] · E[x_c]        bias'[o] = bias[o] + error[o]
//
// E[x_c] is the mean of an input channel over the calibration data, so this costs no further run.
#pragma once

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::plan {

// Fills in Decision::shift of the biases of integer ops; those whose input has no known channels stay as they
// are.
void correct_biases(const onnx::Model& model, const graph::Index& index, const calibration::Ranges& ranges,
                    Plan& plan, ThreadPool& pool);

}  // namespace ounce::plan
