// An input of a model as people can look at it: [1, 3, 224, 224] is a picture, [1, 16000] a waveform.
#pragma once

#include <ounce/pictures.h>

#include <optional>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

// `values` are one sample with its batch axis. Brightness goes from the smallest to the largest value, as
// what was normalised has no white of its own. Nothing for what is neither: tokens, a vector of features.
std::optional<InputPicture> picture_of(const std::string& input, const data::TensorView& values);

// What both say of the classes that either of them puts first, by the reference's order. Nothing for outputs
// that are no single row of classes.
std::vector<ClassScore> best_answers(const data::ValueDescription& output, const data::TensorView& reference,
                                     const data::TensorView& candidate);

}  // namespace ounce::evaluate
