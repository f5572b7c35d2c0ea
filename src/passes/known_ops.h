// The ops of ONNX's own domain up to opset 21, by name.
#pragma once

#include <string_view>

namespace ounce::passes {

bool is_known_op(std::string_view op_type);

}  // namespace ounce::passes
