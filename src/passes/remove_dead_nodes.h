// Takes out what no output depends on: nodes, initializers, and the declared types of values that are gone.
//
//   x ─ op ─ y (output)                 x ─ op ─ y (output)
//   w ─ Transpose ─ t            →
//
// A node lives when one of its outputs is an output of its body or is used by a living node, in a subgraph
// too; so one pass over the model finds all that the removal of others leaves behind. A node that has no
// output stays: somebody wants its effect. Inputs never go, nor do initializers that are inputs too (before
// IR 4 all of them are), nor any initializer of a model with training graphs, which may use it.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// At every depth, functions included. Counts the nodes and initializers that are gone.
Changes remove_dead_nodes(onnx::Model& model);

}  // namespace ounce::passes
