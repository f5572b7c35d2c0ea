// Takes out nodes that hand on their input: Identity, and Dropout at inference.
//
//   a ─ Identity ─ b ─ op          →   a ─ op                 whoever used b uses a, in subgraphs too
//   op ─ a ─ Identity ─ b (output) →   op ─ b (output)        b is what the graph gives: a is renamed
//
// Names of inputs and outputs never change. So an Identity stays where its output is an output and its input
// is one too, is an input or a constant of the graph, or comes from a graph around; a Dropout stays where it
// trains, where that is not known before the model runs, or where its mask is used.
#pragma once

#include "onnx/model.h"
#include "passes/changes.h"

namespace ounce::passes {

// At every depth, functions included. Counts the nodes that are gone.
Changes remove_identity(onnx::Model& model);

}  // namespace ounce::passes
