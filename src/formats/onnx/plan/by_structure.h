// Decides how each tensor is stored in an ONNX file: applies the steps of plan/weights/storage.h, and chooses
// how ONNX ops dequantize the tensor or which MatMulNBits kernel uses it.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/weights.h"
#include "plan/weights/storage.h"

namespace ounce::plan {

class StructurePlanner {
 public:
  StructurePlanner(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                   const IntegerPlan& integer, const NodeOverrides& overrides, Selection& selection)
      : model_(model),
        index_(index),
        recipe_(recipe),
        integer_(integer),
        overrides_(overrides),
        selection_(selection) {}

  Decision decide(const Weight& weight);

  // Why a weight that is dequantized at load cannot be dequantized on every run instead; empty if it can.
  std::string why_no_run_decoding(const Decision& decision) const;
  // Switches the weight to dequantization on every run. `reason` replaces the reason for folding.
  void decode_at_runs(Decision& decision, const std::string& reason) const;

 private:
  std::int64_t opset(const model::WeightSite& weight) const;
  std::string why_as_it_is(const Weight& weight, const std::optional<StorageOverride>& wanted) const;
  DecoderChoice choose_encoding(Decision& decision, const std::optional<StorageOverride>& wanted) const;
  void choose_decoder(Decision& decision, DecoderChoice choice) const;
  std::string why_no_dq(const Decision& decision) const;
  bool can_have_rows(const Decision& decision) const;
  void fit_to_dq(Decision& decision) const;

  const onnx::Model& model_;
  const graph::Index& index_;
  const Recipe& recipe_;
  const IntegerPlan& integer_;
  const NodeOverrides& overrides_;
  Selection& selection_;
};

// Reads the tensor, records the ranges of its groups, and changes the decision if necessary. Throws
// Error{kBadInput} for a weight with NaN or infinite values.
void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each);

// Weights that MatMulNBits kernels use in stored form: the formats nbits8, nbits4 and nbits2.

// For the quantization format nbits: decides encoding, blocks and decoder. For qdq: decides only the
// encoding, which is ordinary storage with blocks. Returns false if no kernel supports the weight; the
// decision's reason says why.
bool plan_nbits(const graph::Index& index, const Recipe& recipe, std::int64_t opset, Format format,
                Decision& decision);

// Checks whether MatMulNBits and GatherBlockQuantized can use a weight: all its uses must be one of these
// kinds and must agree on the rows (quant/blocks.h).
//
//   MatMul(x, w)                    w [K, N]: rows are the columns of w
//   Gemm(x, w, c)                   the same, or with transB w [N, K]: rows of w; alpha and beta are 1
//   Transpose(w) ─ MatMul or Gemm   w [N, K]
//   Gather(w, i)                    w [N, K], looked up by rows; also together with the others (tied weights)

struct NodePlace {
  std::size_t body = 0, node = 0;
};

struct NbitsUses {
  std::string why_not;  // empty if the weight can be used; the other fields are valid only then
  std::vector<NodePlace> products, lookups;
  std::vector<NodePlace> transposes;  // removed from the graph
  bool is_transposed = false;         // rows are the columns of the tensor
};

// `opset` is the version of ONNX's own domain in the weight's body.
NbitsUses find_nbits_uses(const graph::Index& index, const graph::Value& weight, std::int64_t opset);

}  // namespace ounce::plan
