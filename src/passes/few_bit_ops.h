// Puts the runtime's ops for few bits in the place of those that use a weight (plan/few_bit_uses.h).
//
//   MatMul(x, w)                →   MatMulNBits(x, codes, scales, zeros)
//   Gemm(x, w, c)               →   MatMulNBits(x, codes, scales, zeros) ─ Add c
//   Transpose(w) ─ MatMul(x, ·) →   MatMulNBits(x, codes, scales, zeros)
//   Gather(w, i)                →   GatherBlockQuantized(codes, i, scales, zeros) ─ Cast
//
// A weight that is multiplied with and looked up is stored once: the lookup reshapes its codes, which
// runtimes do when a session is created. A table that is only looked up has 16-bit scales, and a Cast where
// its rows are to be FP32.
#pragma once

#include "graph/index.h"
#include "passes/decoder.h"
#include "passes/editors.h"
#include "plan/decision.h"

namespace ounce::passes {

// `place` is where the weight's tensors stand.
void put_few_bit_ops(Editors& editors, const graph::Index& index, std::size_t place,
                     const plan::Decision& decision, const StoredNames& stored);

}  // namespace ounce::passes
