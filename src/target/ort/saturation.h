// The order in which ONNX Runtime's integer kernels for x86 take the weights of an op; see
// quant/dot_product_pairs.h for why it matters.
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

// `node` is the integer op, or the float op that it stands for; `dims` are those of its weight. Depthwise
// convolutions have exact kernels of their own: no pairs. Likewise ops that we do not know as integer ones.
quant::DotProductPairs pairs_of(const onnx::Node& node, std::span<const std::int64_t> dims);

// Is every sum of 8-bit products exact on the target's CPU? False for an x86 CPU unless the target says that
// it has VNNI, and for a target without a CPU.
bool has_exact_dot(const Target& target);

// Does the target name a CPU, or a kind of CPU, some of which are not exact? Not a target that names none.
bool is_known_to_saturate(const Target& target);

// Of a CPU as ounce/cpus.h names them ("avx2", "avx512", "arm64"): those that lack VNNI.
bool is_without_exact_products(std::string_view cpu);

// Integer nodes that give something else on x86 CPUs without VNNI: two of their weights are so large that the
// sum of their products saturates there (quant/dot_product_pairs.h).

// A weight of such a node.
struct Saturating {
  std::size_t body = 0, node = 0;
  std::size_t input = 0;              // of the node: its weight, or the DequantizeLinear of it
  bool is_constant = true;            // otherwise it is computed, and nobody knows what codes will meet
  quant::DotProductPairs pairs = {};  // of the codes, as they stand in the file
  int worst = 0;                      // what the largest pair comes to; quant::kLargestPairSum is safe
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
