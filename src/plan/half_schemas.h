// What the schema of an op says about 16-bit floats.
#pragma once

#include <string>

#include "base/element_type.h"
#include "onnx/model.h"
#include "onnx/op_schemas.h"

namespace ounce::plan {

// Does the op take or give sequences or maps?
bool has_sequence(const onnx::OpSchema& schema);

// Would the type of this value change with those of others at the node?
bool shares_type(const onnx::OpSchema& schema, const onnx::Node& node, onnx::Bytes name,
                 ElementType half);

// The reason for an op that has no such type, with the opset that brought it, if one did.
std::string why_no_type(const onnx::OpSchema& schema, ElementType half);

}  // namespace ounce::plan
