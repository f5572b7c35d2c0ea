// The search for the scale of a group of weights that accounts for the inputs that they are multiplied with.
#pragma once

#include <cstddef>

#include "kernels/affine.h"
#include "quant/linear.h"

namespace ounce::quant {

// The scale of n values with the least Σ h (x - x')², for the energies h of the inputs. Tries scales around
// those of the range and improves each by least squares. `start` is the result if nothing is better, or if
// the format is asymmetric.
kernels::Affine refined_scale(const float* x, const float* energy, std::size_t n, const LinearFormat& format,
                              const kernels::Affine& start);

}  // namespace ounce::quant
