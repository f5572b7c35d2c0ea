// Small TFLite files that together have every table of the format: seeds for the mutation tests and the
// fuzzer.
#pragma once

#include <string>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// A convolution, a pool, a product and a softmax, with a signature: 1 KB.
Model small_tflite();

// Two convolutions with INT8 weights and activations.
Model quantized_tflite();

// Every table, with fields of unknown numbers: control flow, sparse, string and 4-bit constants, custom and
// StableHLO operators, variables, external buffers, metadata.
Model everything_tflite();

// Something to do for each pass of formats/tflite/prepare.
Model unprepared_tflite();

// The bytes of a model with an archive of associated files behind it.
std::string with_archive(const Model& model, bool counts_from_the_file);

}  // namespace ounce::tflite
