// Turns a Model into ropes: one for the model file, and one for the external data file if tensors
// are moved there.
#pragma once

#include <cstdint>
#include <string>

#include "formats/onnx/file/message_writer.h"
#include "formats/onnx/file/model.h"

namespace ounce::onnx {

// Where the bytes of initializers go.
enum class Placement {
  kKeep,      // as they are: inline ones inline, external ones in the files they name
  kInline,    // all in the model file
  kExternal,  // the large ones in one data file beside the model
};

struct Serialized {
  Rope model;
  Rope data;  // empty unless Placement::kExternal
};

// Messages that nobody edited are copied verbatim, unless `rewrite_everything` asks for all of them
// but the tensors to be encoded anew: for files in protobuf's usual order that gives the same bytes, which is
// how the encoder is tested.
Serialized serialize(const Model& model, Placement placement, const std::string& data_location,
                     bool rewrite_everything = false);

}  // namespace ounce::onnx
