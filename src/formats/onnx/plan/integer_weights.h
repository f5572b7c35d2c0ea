// Weights and biases of nodes that run in INT8.
//
//   sum = Σ (x - zero_x)·w   in units of  scale_x · scale_w[channel]
//
// A bias is added to that sum, so it is quantized to int32 in the same units.
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

// Decides everything except the scales. Returns false if the tensor belongs to no integer node.
bool decide_integer(const graph::Index& index, Decision& decision, const IntegerPlan& plan,
                    const Recipe& recipe);

// Computes the scales of weights and, from these and the activation scales, those of biases. If a bias would
// not fit int32 (a channel of tiny weights), the weight's scale is increased until it does.
void scale_integer_weights(const onnx::Model& model, const graph::Index& index, Plan& plan, ThreadPool& pool);

// Bias correction: subtracts the mean output error of the quantized weights from the bias of each channel.
//
//   error[o] = Σ (w - w')[o, c, …] · E[x_c]        bias'[o] = bias[o] + error[o]
//
// E[x_c] is the mean of an input channel over the calibration data, so no further run is needed.

// Sets Decision::shift of the biases of integer ops. Biases are not changed if the channel means of the input
// are unknown.
void correct_biases(const onnx::Model& model, const graph::Index& index, const calibration::Ranges& ranges,
                    Plan& plan, ThreadPool& pool);

}  // namespace ounce::plan
