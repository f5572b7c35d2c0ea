#include "passes/work_limit.h"

#include "onnx/model.h"
#include "plan/weights.h"

namespace ounce::passes {

// Detectors share the weights of their heads between five or six scales.
constexpr std::uint64_t kTimes = 8;

WorkLimit::WorkLimit(const graph::Index& index) {
  for (const graph::Body& body : index.bodies()) {
    if (body.graph != nullptr) {
      for (const auto& tensor : body.graph->initializers) left_ += kTimes * tensor->byte_count();
    }
    for (const auto& node : body.nodes()) {
      if (const onnx::Tensor* tensor = plan::constant_tensor(*node)) left_ += kTimes * tensor->byte_count();
    }
  }
}

bool WorkLimit::take(std::uint64_t bytes) {
  if (bytes > left_) return false;
  left_ -= bytes;
  return true;
}

}  // namespace ounce::passes
