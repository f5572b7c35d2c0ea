// The plan of an ML Program: for every float tensor in a weight file whether it is stored in another form, in
// which, and why. Made once, then printed and carried out (formats/coreml/emit).
//
//   iOS16, iOS17   8 bits with a scale for each channel; lookup tables for a whole tensor
//   iOS18 on       the same, and blocks, 4-bit integers, lookup tables for groups of channels
//
// The result keeps the version of the package if the forms that it needs are older; otherwise the package is
// raised to the first version that has them, as far as the target allows.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "formats/coreml/plan/weights.h"
#include "formats/coreml/view/coreml_file.h"
#include "kernels/affine.h"
#include "plan/weights/tensor_plan.h"

namespace ounce::coreml {

struct Decision : plan::TensorPlan {
  model::ValueId value;
  const Operation* constant = nullptr;
  std::vector<std::int64_t> group_dims;  // how many groups there are along each axis
  std::vector<kernels::Affine> affine;   // of linear encodings; empty if there are too many to keep

  Decision() = default;
  explicit Decision(const Weight& found) : value(found.value), constant(found.constant) { weight = found; }
};

struct Plan {
  Recipe recipe;
  std::int64_t version = 0;  // of the result's specification
  std::string opset;         // of its functions
  std::vector<Decision> decisions;
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;  // expressions of the recipe, where it ignores them

  std::size_t stored_count() const;
  // Are parameters inputs of operations, as from iOS18 on, and not attributes?
  bool has_inputs() const;
  // One line a decision; also what the digest is made of.
  std::string text() const;
};

// Throws Error{kUsage} for an expression or a node of the recipe that matches nothing and for a target that
// does not run Core ML models, Error{kUnsupported} for a model that is no ML Program, for a target that does
// not have what the recipe asks for or cannot load the package. Reads every weight.
Plan make_plan(const CoremlFile& file, const Recipe& recipe, ThreadPool& pool);

// Operations that mean something else in a newer opset, each with the reason: "scatter 'x': …". Empty if the
// program can be raised to `version`.
std::vector<std::string> why_not_raised(const CoremlFile& file, std::int64_t version);

}  // namespace ounce::coreml
