// Hybrid operators: they take a weight as codes with scales, quantize their activations while they run, and
// give floats. XNNPACK and the built-in kernels have them for some operators.
#pragma once

#include <cstddef>
#include <string>

#include "formats/tflite/file/model.h"

namespace ounce::tflite {

// Empty if an operator can take the weight at `input` as codes of `bits` bits, with a scale for each
// channel. Otherwise the reason.
std::string why_not_hybrid(const Model& model, const SubGraph& graph, const Operator& op, std::size_t input,
                           unsigned bits);

// The same of a table that rows are looked up in: EMBEDDING_LOOKUP decodes the rows that it gives. GATHER of
// whole rows becomes one (formats/tflite/emit/store_weights.h).
std::string why_no_lookup(const Model& model, const SubGraph& graph, const Operator& op, std::size_t input,
                          unsigned bits);

// Empty if the hybrid kernel of an operator is clearly faster than the FP32 one, by the measured costs.
// Otherwise the reason. `producer`, which may be null, gives the activations.
std::string why_slower_hybrid(const Model& model, const SubGraph& graph, const Operator& op,
                              const Operator* producer);

}  // namespace ounce::tflite
