// Carries out a static INT8 plan on a copy of the prepared model: scales and zero points on tensors, codes in
// the place of weights and biases, QUANTIZE and DEQUANTIZE where floats and codes meet.
//
//   x ─ CONV_2D ─ a ─ SOFTMAX ─ y     →     x ─ QUANTIZE ─ CONV_2D ─ DEQUANTIZE ─ a ─ SOFTMAX ─ y
//
// Tensors keep their numbers and their names; a value that is needed as floats and as codes gets a second
// tensor for the codes.
#pragma once

#include <memory>

#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/integer_plan.h"

namespace ounce::tflite {

// `model` is a copy of prepared->model(), in which weights that float operators take may have been stored
// (store_weights.h). Weights of integer operators are encoded while the model is written.
void apply_integers(Model& model, const std::shared_ptr<const IntegerModel>& prepared,
                    const IntegerPlan& plan);

}  // namespace ounce::tflite
