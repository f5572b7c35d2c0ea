// The plan of a TFLite model: for every float tensor whether it is stored in another form, in which, and how
// operators read it. Made once, then printed and carried out (formats/tflite/emit).
//
// A weight that is stored keeps its tensor, which gets another type. An operator reads it in one of three
// ways:
//
//   DEQUANTIZE      a float tensor in between, made once when the runtime loads the model: FP32 speed
//   codes           the operator takes the codes and quantizes its activations at run time (hybrid)
//   rows, decoded   a table is looked up in codes, and the rows that come out are decoded
#pragma once

#include <ounce/recipe.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "formats/tflite/plan/weights.h"
#include "formats/tflite/view/tflite_file.h"
#include "kernels/affine.h"
#include "plan/weights/tensor_plan.h"

namespace ounce::tflite {

struct Decision : plan::TensorPlan {
  std::size_t tensor = 0;               // of the subgraph `weight.graph`
  std::vector<WeightUse> uses;          // of the weight
  std::vector<bool> takes_codes;        // by use; the others get floats
  std::vector<kernels::Affine> affine;  // of linear encodings and biases: a scale for each group
  std::vector<float> shift;             // added to a bias, by channel; empty: nothing

  Decision() = default;
  explicit Decision(const Weight& found);

  bool has_use_on(bool wanted) const {
    return std::find(takes_codes.begin(), takes_codes.end(), wanted) != takes_codes.end();
  }
};

// An operator that has a constant weight.
struct NodePlan {
  std::size_t graph = 0, op = 0;
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string reason;  // why it is kept in FP32 although INT8 was requested
};

struct Plan {
  Recipe recipe;
  std::vector<Decision> decisions;  // in the order of the file
  std::vector<NodePlan> nodes;      // where the recipe asks for integer arithmetic
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;  // expressions of the recipe, where it ignores them

  std::size_t stored_count() const;
  // One line a decision; also what the digest is made of.
  std::string text() const;
};

// Throws Error{kUsage} for an expression or a node of the recipe that matches nothing, and
// Error{kUnsupported} for what a recipe asks for that TFLite models do not have. Reads every weight.
Plan make_plan(const TfliteFile& file, const Recipe& recipe, ThreadPool& pool);

}  // namespace ounce::tflite
