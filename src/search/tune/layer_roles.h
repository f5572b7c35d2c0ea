// Where layers stand in a graph, seen by what flows into what: which are first, which are last, and which
// belong to attention. Values are followed into the bodies of If, Loop and Scan and out of them again.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "formats/onnx/graph/index.h"

namespace ounce::search {

using NodePlace = std::pair<std::size_t, std::size_t>;  // body and node

struct LayerRole {
  bool is_first = false, is_last = false, is_attention = false;
};

// One for each layer, in their order.
std::vector<LayerRole> find_roles(const graph::Index& index, const std::vector<NodePlace>& layers);

}  // namespace ounce::search
