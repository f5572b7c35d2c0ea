// Computes operators on constants that move values or compute integers, with the same bits as TFLite's
// kernels. Converters write such operators for shapes and indices.
//
//   SHAPE RESHAPE SQUEEZE EXPAND_DIMS TRANSPOSE GATHER SLICE STRIDED_SLICE PACK CONCATENATION CAST
//   ADD SUB MUL MINIMUM MAXIMUM REDUCE_PROD (of INT32 and INT64)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tflite/file/model.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {

struct Constant {
  TensorType type = TensorType::kFloat32;
  std::vector<std::int32_t> shape;
  Data values;
};

bool is_foldable(Builtin code);

// Computes the output from the inputs in their order (SHAPE needs only the shape), the options of the
// operator, and the shape and type of its output. Returns nullopt if the operator does not take such an input
// or option, or if the output would have another shape than `shape`, which has a byte_count(). RESHAPE and
// similar operators share the values of their input.
std::optional<Constant> fold(Builtin code, const std::vector<Constant>& inputs, const Record* options,
                             const std::vector<std::int32_t>& shape, TensorType type);

}  // namespace ounce::tflite
