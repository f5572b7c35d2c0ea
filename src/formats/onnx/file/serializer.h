// Serializes a Model into ropes: one for the model file, and one for the external data file if tensors are
// moved there.
#pragma once

#include <string>

#include "formats/onnx/file/model.h"
#include "io/rope.h"

namespace ounce::onnx {

using io::Rope;

// Where the bytes of initializers are written.
enum class Placement {
  kKeep,      // unchanged: inline or in their external files
  kInline,    // all in the model file
  kExternal,  // large tensors in one data file next to the model
};

struct Serialized {
  Rope model;
  Rope data;  // empty unless Placement::kExternal
};

// Messages that were not edited are copied unchanged. `rewrite_everything` encodes all messages except
// tensors again; for files in protobuf's usual field order the result is the same. Tests use it to check the
// encoder.
Serialized serialize(const Model& model, Placement placement, const std::string& data_location,
                     bool rewrite_everything = false);

}  // namespace ounce::onnx
