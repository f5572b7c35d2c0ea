// Which node of one model is which of another, although names may differ.
//
// Two nodes are surely the same if everything that leads to them is: the same ops with the same attributes on
// the same inputs and on constants of the same shapes. What is left is matched by its name, and then by what
// the node is alone, in the order of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/onnx/graph/index.h"

namespace ounce::graph {

struct NodePlace {
  std::size_t body = 0, node = 0;
};

struct NodePair {
  std::optional<NodePlace> before, after;  // one of them may be missing
};

// Pairs in the order of `before`, then what only `after` has.
std::vector<NodePair> match_nodes(const Index& before, const Index& after);

// What an attribute of a node says, without the graphs in it. Of a Constant node's tensor only type and shape
// count: it is a weight like any other.
std::uint64_t attribute_digest(const onnx::Node& node, const onnx::Attribute& attribute);

}  // namespace ounce::graph
