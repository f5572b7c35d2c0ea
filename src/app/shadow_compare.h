// Two models' outputs of one call, added to the sums of a shadow.
#pragma once

#include <ounce/app/shadow.h>

#include <span>

#include "data/tensor.h"

namespace ounce::app {

// Answers are counted as verify() counts them (data/class_rows.h): `output` is what the primary says of this
// output. False when the candidate has a NaN or an infinity where the primary has a number: then nothing is
// added.
bool add_comparison(const data::ValueDescription& output, const data::TensorView& primary,
                    const data::TensorView& candidate, ShadowOutput& sums);

// Has it a number everywhere? Of types without NaN, always.
bool is_finite(const data::TensorView& tensor);

}  // namespace ounce::app
