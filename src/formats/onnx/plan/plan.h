// The plan: for every float tensor of a model a decision and its reason. Made once, then printed, compared,
// carried out by the passes and recorded in the model. Making it reads every weight once, for its range.
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
  std::vector<Decision> decisions;  // in the order of the file
  IntegerPlan integer;              // for the formats that compute on integers
  HalfPlan half;                    // for those that compute on 16-bit floats
  std::string half_text;            // its lines
  std::vector<std::string> notes;   // about the model as a whole
  // Expressions of the recipe that matched nothing, where it ignores them.
  std::vector<std::string> unmatched;

  std::size_t stored_count() const;
  // One line a decision; also what the digest is made of.
  std::string text() const;
};

// Every float tensor, nothing decided.
Plan unread_plan(const graph::Index& index);

// `model` must have been verified; `index` is its index. Throws Error{kUsage} for an expression that matches
// nothing, and for nodes of the recipe that the model has not or whose formats do not go together;
// Error{kBadInput} for weights that are not finite. Static arithmetic needs the ranges of activations.
Plan make_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, ThreadPool& pool,
               const calibration::Ranges* ranges = nullptr);

// The same by structure and shapes alone, for storage formats: no weight is read, so that what only values
// tell (formats/onnx/plan/by_structure.h) is left out.
Plan plan_by_shapes(const onnx::Model& model, const graph::Index& index, const Recipe& recipe);

using onnx::TensorSource;

}  // namespace ounce::plan
