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

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// At every depth, functions included. Counts the nodes and initializers that are gone.
Changes remove_dead_nodes(onnx::Model& model);

// Takes out nodes that hand on their input: Identity, and Dropout at inference.
//
//   a ─ Identity ─ b ─ op          →   a ─ op                 whoever used b uses a, in subgraphs too
//   op ─ a ─ Identity ─ b (output) →   op ─ b (output)        b is what the graph gives: a is renamed
//
// Names of inputs and outputs never change. So an Identity stays where its output is an output and its input
// is one too, is an input or a constant of the graph, or comes from a graph around; a Dropout stays where it
// trains, where that is not known before the model runs, or where its mask is used.

// At every depth, functions included. Counts the nodes that are gone.
Changes remove_identity(onnx::Model& model);

}  // namespace ounce::passes
