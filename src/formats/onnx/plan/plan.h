// The plan: a decision and its reason for every float tensor of a model. A plan is made once, then printed,
// compared, applied by the passes, and recorded in the model. Making it reads every weight once, for its
// range.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "calibration/ranges.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/half_plan.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/weights.h"
#include "formats/onnx/view/onnx_file.h"

namespace ounce::plan {

struct Plan {
  Recipe recipe;
  std::vector<Decision> decisions;  // in file order
  IntegerPlan integer;              // for INT8 formats
  HalfPlan half;                    // for FP16 and BF16
  std::string half_text;            // HalfPlan::text()
  std::vector<std::string> notes;   // about the whole model
  // Expressions of the recipe that matched nothing, if the recipe ignores them.
  std::vector<std::string> unmatched;

  std::size_t stored_count() const;
  // One line per decision. The plan digest is computed from this text.
  std::string text() const;
};

// A plan with all float tensors and no decisions.
Plan unread_plan(const graph::Index& index);

// `model` must have been validated; `index` is its index. Throws Error{kUsage} for an expression that matches
// nothing, and for overrides of nodes that do not exist or of formats that cannot be combined;
// Error{kBadInput} for weights that are not finite. Static quantization needs the activation ranges.
Plan make_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, ThreadPool& pool,
               const calibration::Ranges* ranges = nullptr);

// The same from structure and shapes alone, for storage formats. It does not read weights, so decisions that
// depend on values (formats/onnx/plan/by_structure.h) are missing.
Plan plan_by_shapes(const onnx::Model& model, const graph::Index& index, const Recipe& recipe);

using onnx::TensorSource;

}  // namespace ounce::plan
