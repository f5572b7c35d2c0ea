// Weights that MatMulNBits kernels multiply with as they are stored: the formats nbits8, nbits4 and nbits2.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::plan {

// Decides encoding, blocks and decoder for the dialect nbits; for qdq the encoding alone, since that is
// ordinary storage with blocks. Otherwise false, the reason saying why no kernel takes the weight.
bool plan_nbits(const graph::Index& index, const Recipe& recipe, std::int64_t opset, Format format,
                Decision& decision);

// Which weights MatMulNBits and GatherBlockQuantized can take: all uses of the weight have to be of one of
// these kinds and to see the same rows (quant/blocks.h).
//
//   MatMul(x, w)                    w [K, N]: rows are columns of w
//   Gemm(x, w, c)                   likewise, with transB w [N, K]: rows of w; alpha and beta are 1
//   Transpose(w) ─ MatMul or Gemm   w [N, K]
//   Gather(w, i)                    w [N, K], which is looked up by rows; also beside the others (tied
//   weights)

struct NodePlace {
  std::size_t body = 0, node = 0;
};

struct NbitsUses {
  std::string why_not;  // otherwise all below holds
  std::vector<NodePlace> products, lookups;
  std::vector<NodePlace> transposes;  // of which nothing is left
  bool is_transposed = false;         // rows are columns of the tensor
};

// `opset` is that of ONNX's own domain where the weight stands.
NbitsUses find_nbits_uses(const graph::Index& index, const graph::Value& weight, std::int64_t opset);

}  // namespace ounce::plan
