// Decides for each tensor how it is stored in an ONNX file: by the steps of plan/weights/storage.h, and how
// ONNX decodes it or a MatMulNBits kernel multiplies with it.
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

  // Why a weight that is folded cannot be decoded at every run instead; empty when it can.
  std::string why_no_run_decoding(const Decision& decision) const;
  // Makes it so. `reason` takes the place of the one for folding.
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

// Reads the tensor, notes the ranges of its groups, and changes the decision if it has to. Throws
// Error{kBadInput} for a weight with NaN or infinite values.
void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each);

// Weights that MatMulNBits kernels multiply with as they are stored: the formats nbits8, nbits4 and nbits2.

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
