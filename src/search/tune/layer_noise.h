// Estimates the quantization noise of layers from statistics, without running the model.
//
//   y = W x      noise(y) / signal(y) = noise(W) / signal(W) + noise(x) / signal(x) + rounding of y
//
// This assumes that weights and inputs are independent. The noise of weights is their quantization error; the
// noise of activations is predicted by calibration. Dynamic INT8 counts only the weights, because its
// activation scales are unknown before run time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/affine.h"
#include "plan/weights/tensor_plan.h"
#include "quant/float_source.h"
#include "search/tune/layers.h"

namespace ounce::search {

// The error of a weight that is stored with a linear encoding or in FP16; zero for others. `affine`: scales
// of the groups, or empty: they are found.
kernels::ErrorNorms weight_error(const plan::TensorPlan& decision, std::vector<kernels::Affine> affine,
                                 const quant::FloatSource& source, const ForEach& for_each);

// The noise-to-signal ratio of each layer. `weights`: errors by the paths of weights. `activations`: noise /
// signal of the inputs and outputs of INT8 layers, by Layer::output.
std::vector<double> noise_of_layers(const std::vector<Layer>& layers,
                                    const std::map<std::string, kernels::ErrorNorms>& weights,
                                    const std::map<std::string, double>& activations);

}  // namespace ounce::search
