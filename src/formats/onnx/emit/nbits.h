// Converts weights to the packed low-bit format of MatMulNBits (quant/blocks.h) while the file is written.
// The weight is dequantized and compared with its source at the same time; afterward only the stored bytes
// are checked.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/emit/decoder.h"
#include "formats/onnx/emit/store_weights.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"
#include "kernels/affine.h"

namespace ounce::passes {

// `model` must outlive the writing of the file.
std::vector<StoredTensor> nbits_tensors(const onnx::Model& model, const plan::Decision& decision);

// Checks that the file contains the written bytes, and returns the error against the source weight.
kernels::ErrorNorms compare_nbits(const plan::Decision& decision, const onnx::Model& written,
                                  const WrittenWeight& weight, const ForEach& for_each);

// Replaces the ops that use a weight by MatMulNBits and GatherBlockQuantized
// (formats/onnx/plan/by_structure.h).
//
//   MatMul(x, w)                →   MatMulNBits(x, codes, scales, zeros)
//   Gemm(x, w, c)               →   MatMulNBits(x, codes, scales, zeros) ─ Add c
//   Transpose(w) ─ MatMul(x, ·) →   MatMulNBits(x, codes, scales, zeros)
//   Gather(w, i)                →   GatherBlockQuantized(codes, i, scales, zeros) ─ Cast
//
// A weight that is both multiplied and looked up is stored once. The lookup reshapes the packed weight, which
// runtimes fold when they create a session. A table that is only looked up has 16-bit scales, and a Cast if
// its rows must be FP32.

// `place` is the position of the weight's tensors.
void put_nbits_ops(Editors& editors, const graph::Index& index, std::size_t place,
                   const plan::Decision& decision, const StoredNames& stored);

}  // namespace ounce::passes
