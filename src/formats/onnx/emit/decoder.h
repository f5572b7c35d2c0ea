// The nodes that dequantize a stored weight. All of them are ordinary ops on constants, which runtimes fold
// into an FP32 constant when a session is created (except DequantizeLinear, which they may fuse).
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
// A runtime keeps all intermediate values of all weights until the last weight is folded. Decoders with fewer
// and smaller intermediate values are therefore better: for each 4-bit value, pairs take 14 bytes, shifts 22,
// and rows (which the runtime dequantizes on every run) 3. `… fold` is used if it is requested by name, and
// for odd shapes, zero points and 4-bit codebooks.
//
// Zero points and 16-bit scales get a Cast of their own. A weight that is not FP32 gets another one at the
// end.
#pragma once

#include <cstddef>
#include <memory>

#include "base/thread_pool.h"
#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/affine.h"

namespace ounce::passes {

// The names of a stored weight's constants. `zeros` is empty for symmetric quantization. `scales` is the
// codebook for codebook encodings.
struct StoredNames {
  Bytes codes, scales, zeros;
};

// Returns the scales as float32, with a Cast if they are stored as float16.
Bytes float_scales(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                   const StoredNames& stored);

// Adds the nodes that compute `output` from the stored constants.
void add_decoder(BodyEditor& editor, std::size_t place, const plan::Decision& decision,
                 const StoredNames& stored, Bytes output);

// Replaces a Gather that picks rows of the weight: it picks quantized rows (and scales) and dequantizes them.
//
//   Gather(weight, indices)   →   Gather(codes, indices) ─ Cast ─ Mul ─ rows
//                                 Gather(scales, indices) ───────┘
void replace_lookup(BodyEditor& editor, std::size_t position, const plan::Decision& decision,
                    const StoredNames& stored);

// Dequantizes a weight of a written file as a runtime would, and compares it with the original.

// The tensors found in the written file. `scales` is the codebook for codebook encodings.
struct WrittenWeight {
  const onnx::Tensor* codes = nullptr;
  const onnx::Tensor* scales = nullptr;
  const onnx::Tensor* zeros = nullptr;
  std::shared_ptr<const onnx::Production> by = {};  // that produced low-bit weights
};

kernels::ErrorNorms compare_weight(const onnx::Model& original, const plan::Decision& decision,
                                   const onnx::Model& written, const WrittenWeight& weight,
                                   const ForEach& for_each);

}  // namespace ounce::passes
