// Rewrites of a float model before it is quantized: everything that computes the same with dense FP32
// constants and in fewer operators.
//
//   tflite::Model prepared = model;                              // cheap
//   const std::vector<std::string> notes = tflite::prepare(prepared, options);
//
// Every pass has its picture, its conditions and what it does to the values in a header of this folder; the
// list in prepare.cpp gives their order. Custom operators, control flow, variables, inputs, outputs and
// signatures do not change; tensors, buffers and operator codes are numbered again. A model that no pass
// changes keeps its content.
#pragma once

#include <string>
#include <vector>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

struct PrepareOptions {
  bool static_int8 = false;  // other forms of operators, too, for which there are INT8 kernels
};

// Returns a sentence for each pass that changed something, and one for the nodes that it left unchanged, with
// the reason. A model that cannot be written (Model::unwritable) is not changed.
std::vector<std::string> prepare(Model& model, const PrepareOptions& options);

}  // namespace ounce::tflite
