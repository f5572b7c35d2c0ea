// Finds weights whose products saturate in ONNX Runtime's INT8 kernels on x86 CPUs without VNNI
// (quant/dot_product_pairs.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "quant/dot_product_pairs.h"
#include "target/target.h"

namespace ounce::target {

// The pairs of weights that the kernel of a node multiplies together. `node` is an integer op or the FP32 op
// that it replaces; `dims` is the shape of its weight. Depthwise convolutions, which have exact kernels, and
// unknown integer ops have no pairs.
quant::DotProductPairs pairs_of(const onnx::Node& node, std::span<const std::int64_t> dims);

// True if every sum of 8-bit products is exact on the target. False for unknown CPUs and for x86 targets
// without +vnni.
bool has_exact_dot(const Target& target);

// True if the target names a machine with CPUs whose sums are not exact. False if it names no machine.
bool is_known_to_saturate(const Target& target);

// True for CPUs without VNNI. `cpu` is a name of ounce/runtime.h ("avx2", "avx512", "arm64").
bool is_without_exact_products(std::string_view cpu);

// A weight with pairs so large that the sum of their products may saturate.
struct Saturating {
  std::size_t body = 0, node = 0;
  std::size_t input = 0;    // index of the weight, or of its DequantizeLinear, among the node's inputs
  bool is_constant = true;  // false: computed, with unknown values
  quant::DotProductPairs pairs = {};  // of the quantized values in file order
  int worst = 0;                      // largest sum of a pair; up to quant::kLargestPairSum is safe
};

struct Saturation {
  std::vector<Saturating> weights;
  std::set<std::pair<std::size_t, std::size_t>> nodes;  // body and position
  int worst = 0;

  bool exists() const { return !weights.empty(); }
  std::string sentence() const;  // "3 nodes …"
};

// Searches integer ops, and ops with 8-bit DequantizeLinear at both inputs, which runtimes fuse to integer
// ops, in all graphs and functions. Weights may be transposed, or still be FP32 with a QuantizeLinear.
Saturation find_saturation(const onnx::Model& model, const graph::Index& index);

}  // namespace ounce::target
