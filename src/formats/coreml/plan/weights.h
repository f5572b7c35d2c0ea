// Finds the floating-point tensors of an ML Program and their uses, for the planner (plan.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/coreml/view/coreml_file.h"
#include "model/model_file.h"
#include "plan/weights/selection.h"

namespace ounce::coreml {

struct Weight : model::WeightSite {
  model::ValueId value;
  const Operation* constant = nullptr;  // the `const` operation
  std::vector<model::NodeId> users;
  std::optional<std::size_t> summed;  // the axis that is summed over; blocks run along it
  bool is_in_file = false;            // false: in the program itself
};

// Returns the weights of the default function, then of nested blocks, then of other functions, in file order.
std::vector<Weight> find_weights(const CoremlFile& file);

// Number of constexpr operations: weights that are already compressed.
std::size_t compressed_weights(const CoremlFile& file);

// The texts that expressions of plan::Selection are matched with.
plan::Selection::Texts texts_of(const CoremlFile& file, const Weight& weight);

}  // namespace ounce::coreml
