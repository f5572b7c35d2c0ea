#include "target/provider.h"

#include <algorithm>
#include <array>

namespace ounce::target {
namespace {

// From the documentation of the providers; the CPU's is measured (docs/fp16.md).
constexpr auto kProviders = std::to_array<Provider>({
    {"cpu", false, false},
    {"coreml", true, false},
    {"cuda", true, true},
    {"directml", true, false},
    {"migraphx", true, false},
    {"nnapi", true, false},
    {"openvino", true, false},
    {"qnn", true, false},
    {"tensorrt", true, true},
    {"webgpu", true, false},
    {"webnn", true, false},
    {"xnnpack", false, false},
});

}  // namespace

std::span<const Provider> providers() { return kProviders; }

const Provider* find_provider(std::string_view name) {
  if (name.empty()) return kProviders.data();
  const auto* found =
      std::find_if(kProviders.begin(), kProviders.end(), [&](const Provider& p) { return p.name == name; });
  return found == kProviders.end() ? nullptr : found;
}

}  // namespace ounce::target
