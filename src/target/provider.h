// The processors that ONNX Runtime computes on, by the names of its execution providers.
#pragma once

#include <span>
#include <string_view>

namespace ounce::target {

struct Provider {
  std::string_view name;
  bool computes_fp16, computes_bf16;  // rather than converting to FP32 and back around every op
};

std::span<const Provider> providers();
// Null for unknown names; the CPU for an empty one.
const Provider* find_provider(std::string_view name);

}  // namespace ounce::target
