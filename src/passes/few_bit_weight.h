// A weight in the form that kernels for few bits take (quant/block_rows.h), made while the file is written.
// It is decoded and compared with its source right then; in the file its bytes are only looked for.
#pragma once

#include <vector>

#include "base/jobs.h"
#include "kernels/norms.h"
#include "onnx/model.h"
#include "passes/compare_weights.h"
#include "passes/stored_weight.h"
#include "plan/decision.h"

namespace ounce::passes {

// `model` must outlive the writing.
std::vector<StoredTensor> few_bit_tensors(const onnx::Model& model, const plan::Decision& decision);

// What the file holds is what was written, and how close that is to its source.
kernels::ErrorNorms compare_few_bits(const plan::Decision& decision, const onnx::Model& written,
                                     const WrittenWeight& weight, const ForEach& for_each);

}  // namespace ounce::passes
