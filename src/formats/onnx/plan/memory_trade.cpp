#include "formats/onnx/plan/memory_trade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/work.h"

namespace ounce::plan {
namespace {

// Measured by bench/memory.py and by layers alone: an AVX-512 CPU, one thread, ONNX Runtime 1.31.
constexpr double kDecoding = 27, kDecodingRows = 40;  // of 8 bits, and of 4 that were unpacked at load
constexpr double kLostLayout = 0.45, kLostLayoutOfOne = 0.25;  // of kernels with several taps, and with one

constexpr std::uint64_t kNothing = 100;  // of all bytes, one part of so many

std::optional<std::uint64_t> positions_of_weight(const graph::InferredShapes& shapes,
                                                 const graph::Index& index, const Weight& weight) {
  std::uint64_t positions = 0;
  for (const graph::Use& use : weight.value->uses) {
    const auto found =
        use.body == 0 ? positions_of(shapes, index.node(use), use.input) : std::optional<std::uint64_t>();
    if (!found) return std::nullopt;
    positions += *found;
  }
  return positions;
}

// Of a weight that is decoded at every run, in multiplications for each of its values.
double cost_of(const Decision& decision, double positions) {
  const double decoding = decision.encoding == Encoding::kLinear4 ? kDecodingRows : kDecoding;
  if (decision.weight.op != Op::kConv || decision.weight.tensor->dims.size() != 4) return decoding;
  return decoding + positions * (decision.weight.kernel_taps > 1 ? kLostLayout : kLostLayoutOfOne);
}

struct Decodable {
  Decision* decision;
  std::uint64_t positions;
  double cost;  // of each value
};

// The smallest, which save nothing all together: they had better become 16-bit floats (by_values.h).
std::set<const Decision*> smallest_of(const std::vector<Decision>& decisions) {
  std::vector<const Decision*> sorted;
  std::uint64_t left = 0;
  for (const Decision& decision : decisions) {
    left += decision.weight.tensor->byte_count();
    sorted.push_back(&decision);
  }
  left /= kNothing;
  const auto bytes_of = [](const Decision* decision) { return decision->weight.tensor->byte_count(); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Decision* a, const Decision* b) { return bytes_of(a) < bytes_of(b); });
  std::set<const Decision*> smallest;
  for (const Decision* decision : sorted) {
    if (bytes_of(decision) > left) break;
    left -= bytes_of(decision);
    smallest.insert(decision);
  }
  return smallest;
}

bool is_matrix_product(const Decision& decision) {
  return decision.weight.op == Op::kMatMul || decision.weight.op == Op::kGemm;
}

}  // namespace

void trade_memory(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                  const StructurePlanner& planner, std::vector<Decision>& decisions) {
  if (recipe.decoder != DecoderChoice::kAuto || recipe.memory == MemoryUse::kFast) return;
  const std::set<const Decision*> smallest = smallest_of(decisions);
  const auto can_change = [&](const Decision& decision) {
    return decision.is_stored() && decision.decoder == Decoder::kFold && !smallest.contains(&decision) &&
           planner.why_no_run_decoding(decision).empty();
  };
  if (recipe.memory == MemoryUse::kLow) {
    for (Decision& decision : decisions) {
      if (can_change(decision))
        planner.decode_at_runs(decision, "DequantizeLinear at every run, for low memory");
    }
    return;
  }
  const graph::InferredShapes shapes(model, index);
  std::vector<Decodable> candidates;
  double multiplications = 0;
  for (Decision& decision : decisions) {
    const auto positions = positions_of_weight(shapes, index, decision.weight);
    if (!positions) continue;
    const auto count = static_cast<double>(decision.weight.tensor->element_count());
    multiplications += count * static_cast<double>(*positions);
    // Runtimes fuse DequantizeLinear into products of matrices, and then compute on 8 bits.
    if (!can_change(decision) || is_matrix_product(decision)) continue;
    candidates.push_back({&decision, *positions, cost_of(decision, static_cast<double>(*positions))});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Decodable& a, const Decodable& b) { return a.cost < b.cost; });
  double left = recipe.decode_share * multiplications;
  for (const Decodable& candidate : candidates) {
    const double cost =
        candidate.cost * static_cast<double>(candidate.decision->weight.tensor->element_count());
    if (cost > left) continue;  // a smaller one may fit
    left -= cost;
    planner.decode_at_runs(
        *candidate.decision,
        fmt::format("DequantizeLinear at every run: about {:.1f} % of its time, at {} position{}",
                    100 * cost / multiplications, candidate.positions, candidate.positions == 1 ? "" : "s"));
  }
}

}  // namespace ounce::plan
