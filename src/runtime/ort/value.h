// Tensors as the runtime holds them.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

#include "data/tensor.h"
#include "runtime/ort/status.h"

namespace ounce::runtime {

ElementType from_runtime(ONNXTensorElementDataType type);

// The value looks at the tensor's bytes, which must stay where they are and which the runtime only reads;
// strings are copied. Throws Error{kBadInput} when the bytes do not fit the shape.
Handle<OrtValue> make_value(const Caller& call, const OrtMemoryInfo* memory, const data::TensorView& tensor,
                            const std::string& name);

// What a value holds, without a copy but for what is put into `made`: strings, and the elements of a sequence
// and the values of a map (by their keys) one behind the other. Sequences of tensors of one shape, or of maps
// with equally many keys, are [elements, …]; others are one row. An absent optional is an empty row.
data::TensorView view_of(const Caller& call, OrtValue* value, const std::string& name, data::Tensor& made);

}  // namespace ounce::runtime
