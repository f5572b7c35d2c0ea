// Which tensors have the shape that the file says, in every run of the model.
//
//   KnownShapes shapes(editor, called_graphs(model)[graph]);
//   for each operator, in order: shapes.visit(op);
//   if (shapes.has(tensor)) …
//
// Inputs have it unless a dimension is dynamic, or another graph calls this one with inputs of its own.
// Operators pass it on, unless computed integers may decide on the shape of the output. A shape that the file
// calls dynamic inside of a graph does not count: converters write this for values whose shape they could not
// infer.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// By subgraph: does an operator run it?
std::vector<bool> called_graphs(const Model& model);

class KnownShapes {
 public:
  KnownShapes(const GraphEditor& editor, bool is_called);

  // After the operators before it. Tensors that became constants meanwhile are known.
  void visit(std::size_t op);
  void visit_all();
  bool has(std::int32_t tensor) const;

 private:
  const GraphEditor& editor_;
  std::vector<bool> known_;
};

}  // namespace ounce::tflite
