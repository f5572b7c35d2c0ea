// The float tensors of a TFLite model whose values are in the file, in all subgraphs, with their users and
// their purpose. The planner (plan.h) decides about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/tflite/view/tflite_file.h"
#include "model/model_file.h"
#include "plan/weights/selection.h"

namespace ounce::tflite {

struct WeightUse {
  std::size_t op = 0;     // of SubGraph::operators
  std::size_t input = 0;  // of its inputs
};

struct Weight : model::WeightSite {  // `graph` is the subgraph
  std::size_t tensor = 0;            // of SubGraph::tensors
  std::vector<WeightUse> uses;
  bool is_sparse = false;
};

// In the order of the file.
std::vector<Weight> find_weights(const TfliteFile& file);

// Constant tensors that have scales: they were quantized by other tools.
std::size_t quantized_constants(const Model& model);

// The texts that plan::Selection compares with its patterns.
plan::Selection::Texts texts_of(const TfliteFile& file, const Weight& weight);

}  // namespace ounce::tflite
