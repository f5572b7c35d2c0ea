// Decodes what a written file holds for a weight, as a runtime would, and compares it with the original.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/norms.h"

namespace ounce::passes {

// The tensors found in the written file; scales is the codebook for codebook encodings.
struct WrittenWeight {
  const onnx::Tensor* codes = nullptr;
  const onnx::Tensor* scales = nullptr;
  const onnx::Tensor* zeros = nullptr;
  std::shared_ptr<const onnx::Production> by = {};  // that wrote codes of few bits
};

kernels::ErrorNorms compare_weight(const onnx::Model& original, const plan::Decision& decision,
                                   const onnx::Model& written, const WrittenWeight& weight,
                                   const ForEach& for_each);

}  // namespace ounce::passes
