// Weights and biases of the nodes that compute on integers.
//
//   sum = Σ (x - zero_x)·w   in units of  scale_x · scale_w[channel]
//
// A bias is added to that sum, so it is coded in the same units, as int32.
#pragma once

#include <ounce/recipe.h>

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::plan {

struct Plan;

// False when the tensor belongs to no integer node; otherwise all is decided but the scales.
bool decide_integer(const graph::Index& index, Decision& decision, const IntegerPlan& plan,
                    const Recipe& recipe);

// Finds the scales of weights and, from them and from those of activations, of biases. Where a bias would not
// fit 32 bits (a channel of tiny weights), the weight's scale grows until it does.
void scale_integer_weights(const onnx::Model& model, const graph::Index& index, Plan& plan, ThreadPool& pool);

// Takes the mean error that rounding the weights makes in every output channel out of its bias.
//
//   error[o] = Σ (w - w')[o, c, …] · E[x_c]        bias'[o] = bias[o] + error[o]
//
// E[x_c] is the mean of an input channel over the calibration data, so this costs no further run.

// Fills in Decision::shift of the biases of integer ops; those whose input has no known channels stay as they
// are.
void correct_biases(const onnx::Model& model, const graph::Index& index, const calibration::Ranges& ranges,
                    Plan& plan, ThreadPool& pool);

}  // namespace ounce::plan
