// Test support: random quantization parameters as a search would try them, some of them extreme.
#pragma once

#include <vector>

#include "kernels/affine.h"
#include "support/weights_at.h"

namespace ounce::kernels {

inline CodeRange random_code_range(RandomWeights& random) {
  static constexpr CodeRange kRanges[] = {{-127, 127}, {-128, 127}, {0, 255}, {-8, 7}, {-7, 7}, {0, 15}};
  return kRanges[random.length(5)];
}

inline std::vector<Affine> random_affines(RandomWeights& random, std::size_t n, CodeRange range) {
  std::vector<Affine> affines(n);
  for (Affine& affine : affines) {
    const auto span = static_cast<std::size_t>(range.hi - range.lo);
    affine.scale = 0.01F + static_cast<float>(random.length(1000)) / 1000.0F;
    affine.inverse = 1.0F / affine.scale;
    affine.zero = static_cast<float>(range.lo + static_cast<int>(random.length(span)));
    if (random.length(15) == 0) affine = {1e-38F, 3e38F, affine.zero};  // products overflow
    if (random.length(15) == 0) affine = {0.0F, 0.0F, affine.zero};
  }
  return affines;
}

}  // namespace ounce::kernels
