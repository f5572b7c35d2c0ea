// Rounding that keeps sums.
//
// Rounding every weight to the nearest code leaves errors whose sum over a channel is a random walk. Inputs
// are rarely of mean zero (they come out of a ReLU, or hold energies), so that sum turns into a shift of the
// output, and over the taps of one kernel into an error at low frequencies. So a few codes, those that were
// closest to being rounded the other way, are moved by one until the errors of each kernel, and then of each
// channel, sum to at most half a step. The squared error hardly grows; the error at the model's output drops
// by 2 to 3 dB on convolutional networks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/affine.h"

namespace ounce::quant {

// `codes` are the nearest codes of `runs` consecutive channels of n values, and are changed in place.
// `kernel` values that follow one another make a kernel; 1 for none.
void balance_runs(const std::byte* x, std::size_t runs, std::size_t n, std::size_t kernel,
                  const kernels::Affine* affine, kernels::CodeRange range, std::uint8_t* codes);

}  // namespace ounce::quant
