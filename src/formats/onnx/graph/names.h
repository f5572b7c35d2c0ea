// New names that nobody has yet. They are short, because every added tensor pays for its name
// several times in the file.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {

class Names {
 public:
  // Collects every value and node name at every depth, so that a fresh name hides nothing.
  explicit Names(onnx::Model& model);

  // "q0", "q1" … for the prefix "q", kept in the model's text.
  onnx::Bytes fresh(const std::string& prefix);

 private:
  void collect(const onnx::Graph& graph);
  void collect(const std::vector<onnx::Kept<onnx::Node>>& nodes);
  void collect(const std::vector<onnx::Kept<onnx::Attribute>>& attributes);

  onnx::Model& model_;
  std::unordered_set<onnx::Bytes> taken_;
  std::unordered_map<std::string, std::size_t> next_;
};

// Whoever reads a node of a known op finds the inputs and outputs that the op cannot be without.

// Throws Error{kBadInput}. Only the ops of ONNX itself are looked at: those of runtimes change under the same
// version.
void check_op_parameters(const onnx::Model& model, const Index& index);

}  // namespace ounce::graph
