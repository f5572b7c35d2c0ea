// The recipe's overrides for single nodes (Recipe::nodes), for models of any format.
//
//   const NodeFormats formats(file, recipe);
//   std::optional<StorageOverride> wanted = formats.storage(value.users);
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/model_file.h"
#include "plan/weights/selection.h"

namespace ounce::plan {

class NodeFormats {
 public:
  // Throws Error{kUsage} for a name that no node has.
  NodeFormats(const model::ModelFile& file, const Recipe& recipe);

  std::optional<Format> of(model::NodeId node) const;
  // The storage format for a weight used by these nodes; empty without an override.
  std::optional<StorageOverride> storage(std::span<const model::NodeId> users) const;

 private:
  Format otherwise_;
  std::vector<std::size_t> first_;  // node of each graph; empty if the recipe names none
  NamedFormats named_;
};

}  // namespace ounce::plan
