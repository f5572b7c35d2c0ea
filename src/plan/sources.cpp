#include "plan/sources.h"

namespace ounce::plan {

quant::FloatType float_type_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat16: return quant::FloatType::kFloat16;
    case ElementType::kBfloat16: return quant::FloatType::kBfloat16;
    case ElementType::kDouble: return quant::FloatType::kFloat64;
    default: return quant::FloatType::kFloat32;
  }
}

TensorSource::TensorSource(const onnx::Model& model, const onnx::Tensor& tensor)
    : values_(tensor), floats_(values_.bytes(), float_type_of(tensor.type), [&model](onnx::Bytes bytes) {
        model.release(bytes);
      }) {}

}  // namespace ounce::plan
