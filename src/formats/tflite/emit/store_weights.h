// Carries out a plan on a copy of the model that it was made for: weights get their stored form, and the
// operators that need floats get a DEQUANTIZE operator.
//
//   float32 w ─ op      →      int8 w ─ DEQUANTIZE ─ op      or      int8 w ─ op (hybrid)
//
// GATHER of the rows of a table becomes EMBEDDING_LOOKUP, which dequantizes the rows of its output.
//
// Tensors and buffers keep their numbers. Values are computed while the file is written.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/plan.h"
#include "kernels/affine.h"

namespace ounce::tflite {

// emit/integer_graph.h stores the weights of INT8 operators (TensorPlan::is_required).
// `model` is a copy of the model of `source`, which the plan was made for and which the new values keep
// alive.
void store_weights(Model& model, const std::shared_ptr<const TfliteFile>& source, const Plan& plan);

// The error of a written weight, dequantized with the scales in the file. Throws Error{kInternal} if it does
// not have the planned form.
kernels::ErrorNorms compare_weight(const TfliteFile& source, const Decision& decision,
                                   const TfliteFile& written, const ForEach& for_each);

}  // namespace ounce::tflite
