// Integer nodes that give something else on x86 CPUs without VNNI: two of their weights are so large that the
// sum of their products saturates there (quant/weight_pairs.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/index.h"
#include "onnx/model.h"
#include "quant/weight_pairs.h"

namespace ounce::target {

struct Saturating {
  std::size_t body = 0, node = 0;
  std::size_t input = 0;      // of the node: its weight, or the DequantizeLinear of it
  onnx::Bytes codes;          // the constant; empty when the node multiplies two values that are computed
  std::size_t codes_body = 0;
  quant::WeightPairs pairs;   // of the codes
  int worst = 0;              // what the largest pair comes to; quant::kLargestPairSum is safe
};

// Integer ops, and ops that runtimes make integer ones because DequantizeLinear stands before both inputs. At
// every depth, functions included.
std::vector<Saturating> saturating_nodes(const onnx::Model& model, const graph::Index& index);

// "3 nodes …"; empty when there are none.
std::string saturation_sentence(const std::vector<Saturating>& found);

}  // namespace ounce::target
