// The layers of a model, which are the units of mixed precision: nodes that multiply with constant weights,
// alone or in groups.
#pragma once

#include <ounce/search.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/coreml/view/coreml_file.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/tflite/view/tflite_file.h"
#include "model/model_file.h"
#include "ops/op_info.h"

namespace ounce::search {

// The roles of layers, found by following the data flow: first, last, or part of attention. Values are
// followed into and out of the bodies of If, Loop and Scan.

using NodePlace = std::pair<std::size_t, std::size_t>;  // body and node

struct LayerRole {
  bool is_first = false, is_last = false, is_attention = false;
};

// Returns a role per layer, in the order of `layers`.
std::vector<LayerRole> find_roles(const graph::Index& index, const std::vector<NodePlace>& layers);

// The data flow of a model of any format, as far as roles depend on it.
struct RoleGraph {
  struct Node {
    bool is_product = false;  // multiplies two matrices
    bool is_softmax = false;
    bool is_attention = false;     // attention as one op
    bool keeps_values = false;     // changes values one by one, or only moves them
    bool computes_values = false;  // adds, subtracts, multiplies or divides them
    bool gives_shape = false;
  };
  std::vector<Node> nodes;
  std::vector<std::vector<std::size_t>> next, before;  // from the producer of a value to its consumers
};
RoleGraph::Node role_of(Op op);
// The data flow of a model's main graph. `role` describes a node of it by its number.
RoleGraph role_graph(const model::GraphView& main, const std::function<RoleGraph::Node(std::size_t)>& role);
// `layers`: nodes.
std::vector<LayerRole> find_roles(const RoleGraph& graph, const std::vector<std::size_t>& layers);

struct Layer {
  std::string output;  // the layer's key in Recipe::nodes
  std::string name, op_type;
  std::vector<std::string> weights;        // paths of these values, see graph::value_path
  std::vector<std::string> expressions;    // match only this layer, for --exclude
  std::uint64_t values = 0;                // of its weights
  bool is_first = false, is_last = false;  // no layer precedes it, or follows it
  bool is_moved = false;                   // there are ops between the layer and one of its weights
  bool is_attention = false;               // feeds the MatMuls around a Softmax, or reads their outputs
};

// Adds roles to layers of the main graph, which come first, and returns all in the order of the file.
std::vector<Layer> with_roles(std::map<NodePlace, Layer> found, const RoleGraph& main);

// Returns the layers in the order of the file. A weight that several nodes use counts for the first. Nodes
// whose weights have fewer than `least_bytes` bytes are left out: compressing them saves nothing (but other
// arithmetic may be faster).
std::vector<Layer> find_layers(const graph::Index& index, std::uint64_t least_bytes = 1024);
std::vector<Layer> find_layers(const tflite::TfliteFile& file, std::uint64_t least_bytes = 1024);
std::vector<Layer> find_layers(const coreml::CoremlFile& file, std::uint64_t least_bytes = 1024);

// The expression that matches only this name: escapes the special characters of RE2, and no others, so that
// it stays readable.
std::string exact_expression(const std::string& name);

struct Group {
  std::string name;
  std::vector<std::size_t> layers;
};

// Layers that share a weight form one group. Blocks are layers whose names have a common scope
// ("/encoder/layer.3/"), or neighboring layers.
std::vector<Group> group_layers(const std::vector<Layer>& layers, Grouping grouping,
                                std::size_t most_blocks = 16);

}  // namespace ounce::search
