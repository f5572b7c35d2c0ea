// The plan of an ML Program: decides for every floating-point tensor in a weight file whether and how it is
// compressed, with the reason. Carried out by formats/coreml/emit.
//
//   iOS16, iOS17   8 bits with per-channel scales; per-tensor lookup tables
//   iOS18 on       also per-block scales, 4-bit integers, lookup tables for groups of channels
//
// The result keeps the version of the package if that supports all chosen formats. Otherwise it is raised to
// the first version that does, if the target allows it.
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
  std::vector<std::int64_t> group_dims;  // number of groups along each axis
  std::vector<kernels::Affine> affine;   // scales of linear encodings; empty if too many to keep in memory

  Decision() = default;
  explicit Decision(const Weight& found) : value(found.value), constant(found.constant) { weight = found; }
};

struct Plan {
  Recipe recipe;
  std::int64_t version = 0;  // of the result's specification
  std::string opset;         // of its functions
  std::vector<Decision> decisions;
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;  // ignored expressions of the recipe that match nothing

  std::size_t stored_count() const;
  // True if parameters are inputs of operations (from iOS18 on), false if they are attributes.
  bool has_inputs() const;
  // One line per decision; the digest is computed from this text.
  std::string text() const;
};

// Makes a plan. Reads every weight. Throws Error{kUsage} if an expression or node of the recipe matches
// nothing or if the target does not run Core ML models; Error{kUnsupported} if the model is not an ML
// Program, or if the target does not support the recipe or cannot load the package.
Plan make_plan(const CoremlFile& file, const Recipe& recipe, ThreadPool& pool);

// Returns the operations whose meaning changes up to `version`, with the reason: "scatter 'x': …". Empty if
// the program can be raised to `version`.
std::vector<std::string> why_not_raised(const CoremlFile& file, std::int64_t version);

}  // namespace ounce::coreml
