// Decides for each tensor how it is stored in an ONNX file: by the steps of plan/weights/storage.h, and how
// ONNX decodes it.
#pragma once

#include <ounce/recipe.h>

#include <cstdint>
#include <string>

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

}  // namespace ounce::plan
