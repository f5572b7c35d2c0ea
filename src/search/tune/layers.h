// The units of mixed precision: the nodes of a model that multiply with constant weights, alone or in groups.
#pragma once

#include <ounce/sensitivity.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

// Where layers stand in a graph, seen by what flows into what: which are first, which are last, and which
// belong to attention. Values are followed into the bodies of If, Loop and Scan and out of them again.

using NodePlace = std::pair<std::size_t, std::size_t>;  // body and node

struct LayerRole {
  bool is_first = false, is_last = false, is_attention = false;
};

// One for each layer, in their order.
std::vector<LayerRole> find_roles(const graph::Index& index, const std::vector<NodePlace>& layers);

struct Layer {
  std::string output;  // names it in Recipe::nodes
  std::string name, op_type;
  std::vector<std::string> weights;        // paths of these values, see graph::value_path
  std::vector<std::string> expressions;    // that mean it alone, for --exclude
  std::uint64_t values = 0;                // of its weights
  bool is_first = false, is_last = false;  // nothing with weights stands before it, or behind it
  bool is_moved = false;                   // other ops stand between it and one of its weights
  bool is_attention = false;               // it makes what a Softmax's MatMuls take, or takes what they give
};

// In the order of the file. A weight that several nodes use is counted for the first. Nodes whose weights
// have less than `least_bytes` are none: to store them otherwise wins nothing, to compute otherwise may.
std::vector<Layer> find_layers(const graph::Index& index, std::uint64_t least_bytes = 1024);

struct Group {
  std::string name;
  std::vector<std::size_t> layers;
};

// Layers that share a weight are one group. Blocks are layers that names put together ("/encoder/layer.3/…"),
// or that stand beside each other.
std::vector<Group> group_layers(const std::vector<Layer>& layers, Grouping grouping,
                                std::size_t most_blocks = 16);

}  // namespace ounce::search
