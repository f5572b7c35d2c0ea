// Where a runtime's kernels for few bits can take a weight: all of its uses have to be of one of these kinds,
// and to see the same rows (quant/block_rows.h).
//
//   MatMul(x, w)                    w [K, N]: rows are columns of w
//   Gemm(x, w, c)                   likewise, with transB w [N, K]: rows of w; alpha and beta are 1
//   Transpose(w) ─ MatMul or Gemm   w [N, K]
//   Gather(w, i)                    w [N, K], which is looked up by rows; also beside the others (tied
//   weights)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/index.h"
#include "onnx/model.h"
#include "plan/weights.h"

namespace ounce::plan {

struct NodePlace {
  std::size_t body = 0, node = 0;
};

struct FewBitUses {
  std::string why_not;  // otherwise all below holds
  std::vector<NodePlace> products, lookups;
  std::vector<NodePlace> transposes;  // of which nothing is left
  bool is_transposed = false;         // rows are columns of the tensor
};

// `opset` is that of ONNX's own domain where the weight stands.
FewBitUses find_few_bit_uses(const graph::Index& index, const Weight& weight, std::int64_t opset);

}  // namespace ounce::plan
