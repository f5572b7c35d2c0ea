// A model's tensors as sources of floats.
#pragma once

#include <memory>

#include "onnx/model.h"
#include "onnx/values.h"
#include "quant/float_source.h"

namespace ounce::plan {

// Keeps the values alive for its FloatSource. The tensor must be of a float type and the model must outlive
// it.
class TensorSource {
 public:
  TensorSource(const onnx::Model& model, const onnx::Tensor& tensor);
  const quant::FloatSource& floats() const { return floats_; }

 private:
  onnx::RawValues values_;
  quant::FloatSource floats_;
};

quant::FloatType float_type_of(ElementType type);

}  // namespace ounce::plan
