// Changes of what a model takes and gives, for running it: input shapes, and inner values as outputs.
//
//   tflite::Model copy = model;                            // cheap: weights stay views into the file
//   tflite::set_shape(copy, copy.subgraphs[0].inputs[0], {1, 64});
//   tflite::append_outputs(copy, tflite::computed_tensors(copy));
//   tflite::write_temporary(copy, path, pool);             // or to_bytes(copy)
//
// All of it is about subgraph 0, which is the model, and its signatures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// Gives a tensor a static shape, an input or an output usually. A runtime computes the shapes of inner values
// when it loads the model. Throws Error{kUsage} if the tensor has another rank, or a dimension of the file is
// not dynamic and has another size, unless `may_resize` is set: then any size will do.
void set_shape(Model& model, std::size_t tensor, std::span<const std::int64_t> dims, bool may_resize = false);

// The tensors that operators of subgraph 0 compute and that have values to compare: no resources, no
// variants. In the order of the operators; without those that are outputs already.
std::vector<std::size_t> computed_tensors(const Model& model);

// Adds outputs behind those of the model, and to each signature of subgraph 0, by the name "ounce_output_<n>"
// where n is the position among all outputs. Tensors that are outputs already are not added again.
void append_outputs(Model& model, std::span<const std::size_t> tensors);

// Drops outputs, keeping the first `count`; the inverse of append_outputs().
void keep_outputs(Model& model, std::size_t count);

}  // namespace ounce::tflite
