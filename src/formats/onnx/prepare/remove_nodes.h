// Removes everything that no output depends on: nodes, initializers, and declared types of removed values.
//
//   x ─ op ─ y (output)                 x ─ op ─ y (output)
//   w ─ Transpose ─ t            →
//
// A node is live if one of its outputs is an output of its body or is used by a live node, in subgraphs too;
// so one pass finds all dead nodes. Nodes without outputs are kept, because they may have side effects.
// Inputs are never removed, nor initializers that are also inputs (before IR 4 all are), nor initializers of
// models with training graphs, which may use them.
#pragma once

#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Processes all bodies, functions included. Counts the removed nodes and initializers.
Changes remove_dead_nodes(onnx::Model& model);

// Removes nodes that return their input unchanged: Identity, and Dropout at inference.
//
//   a ─ Identity ─ b ─ op          →   a ─ op                 users of b use a, in subgraphs too
//   op ─ a ─ Identity ─ b (output) →   op ─ b (output)        b is an output of the graph: a is renamed
//
// Names of inputs and outputs never change. An Identity is therefore kept if its output is an output of the
// graph and its input is also an output, an input or a constant of the graph, or comes from an enclosing
// graph. A Dropout is kept if it trains, if this is not known before the model runs, or if its mask is used.

// Processes all bodies, functions included. Counts the removed nodes.
Changes remove_identity(onnx::Model& model);

}  // namespace ounce::passes
