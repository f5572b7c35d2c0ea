// Carries out a static INT8 plan on a copy of the prepared model: scales and zero points on tensors,
// quantized weights and biases, QUANTIZE and DEQUANTIZE between FP32 and INT8 operators.
//
//   x ─ CONV_2D ─ a ─ SOFTMAX ─ y     →     x ─ QUANTIZE ─ CONV_2D ─ DEQUANTIZE ─ a ─ SOFTMAX ─ y
//
// Tensors keep their numbers and their names; a value that is needed in FP32 and in INT8 gets a second tensor
// for INT8.
#pragma once

#include <memory>

#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/integer_plan.h"

namespace ounce::tflite {

// `model` is a copy of prepared->model(), in which the weights of FP32 operators may already be compressed
// (store_weights.h). Weights of integer operators are encoded while the model is written.
void apply_integers(Model& model, const std::shared_ptr<const IntegerModel>& prepared,
                    const IntegerPlan& plan);

}  // namespace ounce::tflite
