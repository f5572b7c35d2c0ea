// Integer nodes that give something else on x86 CPUs without VNNI: two of their weights are so large that the
// sum of their products saturates there (quant/weight_pairs.h).
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "quant/weight_pairs.h"

namespace ounce::target {

// A weight of such a node.
struct Saturating {
  std::size_t body = 0, node = 0;
  std::size_t input = 0;          // of the node: its weight, or the DequantizeLinear of it
  bool is_constant = true;        // otherwise it is computed, and nobody knows what codes will meet
  quant::WeightPairs pairs = {};  // of the codes, as they stand in the file
  int worst = 0;                  // what the largest pair comes to; quant::kLargestPairSum is safe
};

struct Saturation {
  std::vector<Saturating> weights;
  std::set<std::pair<std::size_t, std::size_t>> nodes;  // body and position
  int worst = 0;

  bool exists() const { return !weights.empty(); }
  std::string sentence() const;  // "3 nodes …"
};

// Integer ops, and ops that runtimes make integer ones because DequantizeLinear of 8-bit codes stands before
// both inputs. At every depth, functions included. Weights may be behind a Transpose or, still floats, behind
// QuantizeLinear.
Saturation find_saturation(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::target
