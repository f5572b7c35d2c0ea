// Finds the operators of a TFLite model that have an INT8 kernel for their form, and their inputs that become
// INT8. Ranges and costs are not considered here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/tflite/file/model.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/flow.h"

namespace ounce::tflite {

struct IntegerCandidate {
  const OpInfo* row = nullptr;
  bool has_kernel = false;
  std::string why_float;             // if it has none; empty for operators that compute on no floats
  bool in_xnnpack = false;           // XNNPACK runs it on INT8, if the scales fit (integer_scales.h)
  std::vector<std::size_t> data;     // the inputs that are activations: floats that are computed
  std::vector<std::size_t> numbers;  // float constants that get one scale; weight and bias are apart
  std::vector<std::size_t> outputs;  // tensors that become INT8

  bool has_weight() const { return has_kernel && row->int8 == IntegerRule::kWeights; }
};

// Returns the candidates among the operators of subgraph 0, by position.
std::vector<IntegerCandidate> find_integer_candidates(const Model& model, const Flow& flow);

// The tensors whose ranges a plan may need, in the order of the graph.
std::vector<std::size_t> values_to_observe(const Model& model,
                                           const std::vector<IntegerCandidate>& candidates);

}  // namespace ounce::tflite
