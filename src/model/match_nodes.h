// Which node of one model is which of another, although names may differ.
//
// Two nodes are surely the same if everything that leads to them is: the same ops with the same attributes on
// the same inputs and on constants of the same shapes. What is left is matched by its name, and then by what
// the node is alone, in the order of the file.
#pragma once

#include <optional>
#include <vector>

#include "model/model_file.h"

namespace ounce::model {

struct NodePair {
  std::optional<NodeId> before, after;  // one of them may be missing
};

// Pairs in the order of `before`, then what only `after` has.
std::vector<NodePair> match_nodes(const ModelFile& before, const ModelFile& after);

}  // namespace ounce::model
