// Which variant of an op a node is: the dimensions by which the support matrix tells variants apart
// (tools/support_matrix/README.md), read from a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"

namespace ounce::target {

struct NodePlace {
  const onnx::Model& model;
  const graph::Index& index;
  const graph::Shapes& shapes;
  std::size_t body;
  const onnx::Node& node;
};

// The value of a dimension, as the matrix spells it; nothing when the file does not tell. `otherwise` is the
// default of an attribute.
std::optional<std::string> variant_of(const NodePlace& place, std::string_view dimension,
                                      std::string_view otherwise);

}  // namespace ounce::target
