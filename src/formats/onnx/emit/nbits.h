// A weight in the packed form that MatMulNBits takes (quant/blocks.h), made while the file is written.
// It is decoded and compared with its source right then; in the file its bytes are only looked for.
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

// `model` must outlive the writing.
std::vector<StoredTensor> nbits_tensors(const onnx::Model& model, const plan::Decision& decision);

// What the file holds is what was written, and how close that is to its source.
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
// A weight that is multiplied with and looked up is stored once: the lookup reshapes its codes, which
// runtimes do when a session is created. A table that is only looked up has 16-bit scales, and a Cast where
// its rows are to be FP32.

// `place` is where the weight's tensors stand.
void put_nbits_ops(Editors& editors, const graph::Index& index, std::size_t place,
                   const plan::Decision& decision, const StoredNames& stored);

}  // namespace ounce::passes
