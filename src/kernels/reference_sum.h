// The sum over a run in the order of summation.h, for the reference kernels: add every value, then finish.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/summation.h"

namespace ounce::kernels::ref {

class RunSum {
 public:
  void add(float value, double& total) {
    lanes_[count_ % kSumLanes] += value;
    if (++count_ == kRunBlock) finish(total);
  }

  void finish(double& total) {
    if (count_ == 0) return;
    for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) lanes_[i] += lanes_[i + half];
    }
    total += static_cast<double>(lanes_[0]);
    *this = RunSum();
  }

 private:
  std::array<float, kSumLanes> lanes_{};
  std::size_t count_ = 0;
};

}  // namespace ounce::kernels::ref
