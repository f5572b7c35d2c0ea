// The nodes that turn stored codes back into a weight. All of them are ordinary ops on constants, which
// runtimes fold into a plain float constant when a session is created (except DequantizeLinear, which they
// may fuse).
//
// clang-format off
//   int8       codes ─ Cast ─ (Sub zeros) ─ Mul scales ─ (Reshape) ─ weight
//   int4       codes ─ Cast int32 ─ Gather from the pairs of all bytes ─ Mul scales ─ Reshape ─ weight
//   … fold     codes ┬ BitShift left ─ BitShift right ┬ Concat ─ (Slice) ─ Cast ─ Reshape ─ Sub 8 ─ Mul scales ─ …
//                    └ BitShift right ────────────────┘
//   … rows     the same as far as Concat ─ DequantizeLinear(scales, Expand 8) ─ Reshape ─ weight
//   codebook   codes ─ Cast int32 ─ Gather from the codebook ─ weight
//   float16    codes ─ Cast ─ weight
//   dq         codes ─ DequantizeLinear(scales, zeros) ─ weight
// clang-format on
//
// A runtime holds all that these ops give, of all weights, until the last one is folded. So of two decoders
// the one with fewer and smaller values on the way is better: for each value of 4 bits the pairs take 14
// bytes, the shifts 22, and the rows, which the runtime decodes at every run, 3. `… fold` is what was asked
// for by that name, and what odd shapes, zeros and codebooks of 4 bits get.
//
// Zeros and 16-bit scales get a Cast of their own, a weight that is not float32 one more at the end.
#pragma once

#include <cstddef>
#include <memory>

#include "base/thread_pool.h"
#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/affine.h"

namespace ounce::passes {

// The constants that hold a stored weight; zeros is empty when the codes are symmetric, scales is the
// codebook for codebook encodings.
struct StoredNames {
  Bytes codes, scales, zeros;
};

// The scales as floats, cast if they are stored as halves.
Bytes float_scales(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                   const StoredNames& stored);

// Adds the nodes that make `output` from the codes.
void add_decoder(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                 const StoredNames& stored, Bytes output);

// In place of a Gather that picks rows of the weight: picks codes (and scales) instead, and decodes the rows.
//
//   Gather(weight, indices)   →   Gather(codes, indices) ─ Cast ─ Mul ─ rows
//                                 Gather(scales, indices) ───────┘
void replace_lookup(BodyEditor& editor, std::size_t position, const plan::Decision& decision,
                    const StoredNames& stored);

// Decodes what a written file holds for a weight, as a runtime would, and compares it with the original.

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
