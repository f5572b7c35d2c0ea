// The plan of an ML Program: decides for every floating-point tensor in a weight file whether and how it is
// compressed, with the reason. Carried out by formats/coreml/emit.
//
//   iOS16, iOS17   8 bits with per-channel scales; per-tensor lookup tables
//   iOS18 on       also per-block scales, 4-bit integers, lookup tables for groups of channels, a scale for
//   each
//                  channel over a lookup table
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

// Tensors with fewer values are written into the program, as converters do.
inline constexpr std::uint64_t kFewestInFile = 10;

// The granularity of lookup tables.
enum class PaletteChoice : std::uint8_t {
  kTensor,           // one table
  kGrouped,          // one table for each group of channels
  kGroupedIfBetter,  // if the error is much smaller than with one table
  kScaled,           // one table, and a scale for each channel
  kScaledIfBetter,
};

struct Decision : plan::TensorPlan {
  model::ValueId value;
  const Operation* constant = nullptr;
  std::vector<std::int64_t> group_dims;    // number of groups along each axis
  std::vector<kernels::Affine> affine;     // scales of linear encodings that are written into the program
  std::vector<std::vector<float>> tables;  // of each group, ascending, rounded to the type of the weight
  // Scales over the table, one per channel, rounded to the type of the weight; empty for none.
  std::vector<float> row_scales;
  // Only the values that are not zero are stored, with one bit for each value.
  bool is_sparse = false;
  std::uint64_t nonzeros = 0;
  bool may_be_sparse = false;  // has 16 bits already, as the recipe wants it
  bool may_be_exact = false;  // needs all bits, but a lookup table has them if there are few different values
  PaletteChoice palette = PaletteChoice::kTensor;  // as planned; fit_palette() decides
  std::size_t palette_group = 0;                   // channels in a group

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
