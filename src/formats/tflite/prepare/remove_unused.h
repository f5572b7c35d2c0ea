// Removes operators whose results nothing uses, and then tensors, buffers and operator codes that nothing
// refers to.
//
// An operator goes only if it surely does nothing else: no custom operator, none with subgraphs, random
// numbers, variables, resources or tables, and no operator of a newer schema. Inputs and outputs of graphs
// and signatures stay, and so do tensors that hold the scales of others, and metadata.
//
// The remaining parts are numbered again. If the file has fields of a newer schema, a number in them may
// refer to a tensor or a buffer: then nothing is numbered again, and buffers that nothing uses become empty
// instead.
#pragma once

#include "formats/tflite/file/model.h"
#include "formats/tflite/prepare/changes.h"

namespace ounce::tflite {

// Changes every subgraph. Counts the removed and emptied objects.
Changes remove_unused(Model& model);

}  // namespace ounce::tflite
