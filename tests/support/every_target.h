// Test support: runs a check on every instruction set of this CPU, including the scalar fallback.
#pragma once

#include <gtest/gtest.h>

#include "kernels/simd_targets.h"
#include <hwy/targets.h>

#include <cstdint>

namespace ounce::kernels {

template <class Check>
void on_every_target(const Check& check) {
  hwy::SetSupportedTargetsForTest(0);
  for (std::int64_t left = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS; left != 0;
       left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace ounce::kernels
