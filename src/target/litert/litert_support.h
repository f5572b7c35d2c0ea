// Checks how a release of LiteRT or TensorFlow Lite runs the operators of a .tflite model, by the support
// matrix.
//
//   const TargetCheck check = litert_support_of(model, parse_litert_target("android-arm64@litert-2.3.0"));
#pragma once

#include <ounce/model.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tflite/file/model.h"
#include "target/litert/litert_target.h"
#include "target/litert_matrix.h"

namespace ounce::target {

// The types of an operator in the notation of the matrix.
struct OperatorTypes {
  std::vector<std::string> inputs, outputs;
  std::string text() const;  // "int8,int8:channel,int32:channel->int8"
};
OperatorTypes types_of(const tflite::SubGraph& graph, const tflite::Operator& op);

// Checks all operators of a model. Each finding contains a remedy.
TargetCheck litert_support_of(const tflite::Model& model, const LitertTarget& target,
                              const LitertMatrix& matrix = LitertMatrix::measured());

// Bytes of the weights after loading, which dequantizes constant inputs of DEQUANTIZE.
std::uint64_t weights_after_loading(const tflite::Model& model);

}  // namespace ounce::target
