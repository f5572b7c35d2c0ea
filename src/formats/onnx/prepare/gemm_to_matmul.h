// Splits a Gemm with a constant right side into a product and a sum.
//
//   A ─ Gemm(B, C) ─ Y     →     A ─ MatMul(B) ─ Add(C) ─ Y         with transB: MatMul(Bᵀ), a new tensor
//
// Conditions: alpha and beta are 1 (beta does not matter without C), transA is 0, B is a constant matrix.
// C may be anything that Gemm takes, [N], [1,N], [M,1], [M,N] or a single value: Add spreads it in the same
// way. B itself stays as it is; a transposed copy is made once for all the Gemms that use it.
#pragma once

#include <functional>

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Those that `is_wanted` picks, at every depth, functions included. Counts the Gemms that are gone.
Changes gemm_to_matmul(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted);

}  // namespace ounce::passes
