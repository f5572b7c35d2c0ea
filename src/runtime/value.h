// Tensors as the runtime holds them.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

#include "data/tensor.h"
#include "runtime/caller.h"

namespace ounce::runtime {

data::ElementType from_runtime(ONNXTensorElementDataType type);

// The value looks at the tensor's bytes, which must stay where they are and which the runtime only reads;
// strings are copied. Throws Error{kBadInput} when the bytes do not fit the shape.
Handle<OrtValue> make_value(const Caller& call, const OrtMemoryInfo* memory, const data::TensorView& tensor,
                            const std::string& name);

// What a value holds, without a copy but for strings, which are put into `strings`. Throws
// Error{kUnsupported} for a sequence, a map, an absent optional.
data::TensorView view_of(const Caller& call, OrtValue* value, const std::string& name,
                         std::vector<std::string>& strings);

}  // namespace ounce::runtime
