// The float tensors of an ML Program that are in a weight file: what uses each, and what it is used for. The
// planner (plan.h) decides about them.
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
  const Operation* constant = nullptr;  // that holds it
  std::vector<model::NodeId> users;
  std::optional<std::size_t> summed;  // the axis that is summed over: blocks run along it
  bool is_in_file = false;            // in a weight file, and not in the program itself
};

// In the order of the file: those of the function that runs by default, of bodies and of other functions.
std::vector<Weight> find_weights(const CoremlFile& file);

// Operations that decode weights: what others have compressed.
std::size_t compressed_weights(const CoremlFile& file);

// What plan::Selection looks for.
plan::Selection::Texts texts_of(const CoremlFile& file, const Weight& weight);

}  // namespace ounce::coreml
