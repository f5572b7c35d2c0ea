// A model says which domains its ops come from: adds what new ops need.
#pragma once

#include "formats/onnx/file/model.h"

namespace ounce::passes {

// Version 1 of every domain that a node at any depth names and no import does. Functions get their own.
void import_domains(onnx::Model& model);

}  // namespace ounce::passes
