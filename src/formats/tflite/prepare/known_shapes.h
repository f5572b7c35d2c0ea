// Finds the tensors that have the shape in the file in every run of the model.
//
//   KnownShapes shapes(editor, called_graphs(model)[graph]);
//   for each operator, in order: shapes.visit(op);
//   if (shapes.has(tensor)) …
//
// The shape of an input is known unless a dimension is dynamic, or another graph calls this one with its own
// inputs. The shape of an output is known if the shapes of the inputs are, unless computed integers may
// determine it. A shape that the file calls dynamic inside of a graph does not count: converters write this
// for values whose shape they could not infer.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// For each subgraph: whether an operator runs it.
std::vector<bool> called_graphs(const Model& model);

class KnownShapes {
 public:
  KnownShapes(const GraphEditor& editor, bool is_called);

  // Visits an operator after all operators before it. Tensors that became constants in between are known.
  void visit(std::size_t op);
  void visit_all();
  bool has(std::int32_t tensor) const;

 private:
  const GraphEditor& editor_;
  std::vector<bool> known_;
};

}  // namespace ounce::tflite
