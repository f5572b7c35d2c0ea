// Decides for each tensor all that can be decided without its values: whether it can be stored smaller, in
// which encoding, what shares a scale, and how it is decoded.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/decision.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/selection.h"

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
  std::int64_t opset(const Weight& weight) const;
  using Wanted = std::optional<StorageOverride>;
  std::string why_keep(const Weight& weight, const Wanted& wanted) const;
  DecoderChoice choose_encoding(Decision& decision, const Wanted& wanted) const;
  void choose_groups(Decision& decision) const;
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

// What only a tensor's values can tell: that there is nothing in them, that they are broken, that they do not
// fit.

// Tensors of at least so many bytes are digested as they are read, one digest a tile (quant/layout.h).
inline constexpr std::uint64_t kDigestFrom = std::uint64_t{1} << 20;

// Reads the tensor, notes the ranges of its groups, and changes the decision if it has to. Throws
// Error{kBadInput} for a weight with NaN or infinite values.
void decide_by_values(const onnx::Model& model, Decision& decision, const ForEach& for_each);

// Spends a share of the size on 16-bit floats for the smallest weights.
void promote_smallest(std::vector<Decision>& decisions, double share);

}  // namespace ounce::plan
