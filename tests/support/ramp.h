// Test support: distinct weights around zero.
#pragma once

#include <cstddef>
#include <vector>

#include "support/model_builder.h"

namespace ounce::test {

// From -1 to 1.
inline std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.01F * static_cast<float>((i * 7919) % 201) - 1;
  return values;
}

inline std::vector<float> ramp(const Dims& dims, float scale = 0.01F) {
  std::size_t count = 1;
  for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * (static_cast<float>((i * 7919) % 251) - 125);
  return values;
}

}  // namespace ounce::test
