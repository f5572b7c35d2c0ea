// Selects the instruction sets that Highway builds the kernels for. Include before any Highway header.
//
// Excluded: vectors of unknown length (SVE, RISC-V), because the kernels use arrays of vectors; those CPUs
// run the NEON or the plain build. AVX3_DL, because TruncateTo is wrong there in Highway 1.0.3.
#pragma once

#include <hwy/detect_compiler_arch.h>

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_AVX3_DL)
