
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/kernel_costs.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

using graph::Constant;
using graph::find_constant;
using graph::input_of;
using graph::opset_of;

constexpr std::int64_t kDynamicOpset = 11;

// Input positions.
constexpr std::size_t kWeight = 1, kRecurrence = 2;
constexpr std::size_t kBias = 2, kOthers = 5;

template <class List>
bool has(const List& list, onnx::Bytes name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Attributes without effect if they are 0 or missing.
constexpr std::array<std::string_view, 2> kOff = {"do_rotary", "past_present_share_buffer"};
// Redundant attributes: unused without do_rotary, or implied by the weight if the sizes are equal.
constexpr std::array<std::string_view, 2> kNeedless = {"rotary_embedding_dim", "qkv_hidden_sizes"};

std::string why_not_lstm_attributes(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    if (!has(kLstmAttributes, attribute->name) && attribute->name != "layout")
      return fmt::format("its attribute '{}' is not known to DynamicQuantizeLSTM", attribute->name);
  }
  if (integer_setting(node, "layout", 0) != 0) return "its layout is batch-first";
  if (!string_setting(node, "direction", "forward")) return "its direction cannot be read";
  return {};
}

std::string why_not_gates(const std::optional<Constant>& weight, const char* what) {
  if (!weight) return fmt::format("its {} is not constant", what);
  if (weight->tensor->type != ElementType::kFloat) return fmt::format("its {} is not float32", what);
  if (weight->tensor->dims.size() != 3) return fmt::format("its {} does not have three axes", what);
  if (weight->tensor->element_count() == 0) return fmt::format("its {} is empty", what);
  if (weight->is_shared()) return fmt::format("its {} is used elsewhere too", what);
  return {};
}

std::string why_not_shapes(const onnx::Node& node, const std::vector<std::int64_t>& weight,
                           const std::vector<std::int64_t>& recurrence) {
  const std::int64_t directions = *string_setting(node, "direction", "forward") == "bidirectional" ? 2 : 1;
  const std::int64_t hidden = recurrence[2];
  const bool fits = weight[0] == directions && recurrence[0] == directions && weight[1] == recurrence[1] &&
                    weight[1] % 4 == 0 && weight[1] / 4 == hidden;
  if (!fits) return "the shapes of its weights do not match";
  return integer_setting(node, "hidden_size", hidden) == hidden
             ? ""
             : "its hidden_size does not match its weights";
}

std::string why_not_attention_attributes(const onnx::Node& node) {
  for (const auto& attribute : node.attributes) {
    const onnx::Bytes name = attribute->name;
    if (!has(kAttentionAttributes, name) && !has(kOff, name) && !has(kNeedless, name))
      return fmt::format("its attribute '{}' is not known to QAttention", name);
    if (has(kOff, name) && integer_setting(node, name, 0) != 0)
      return fmt::format("QAttention has no {}", name);
  }
  if (onnx::find_attribute(node, "qkv_hidden_sizes") == nullptr) return {};
  const auto sizes = onnx::integers_attribute(node, "qkv_hidden_sizes");
  const bool are_alike = sizes && std::all_of(sizes->begin(), sizes->end(),
                                              [&](std::int64_t size) { return size == sizes->front(); });
  return are_alike ? "" : "its queries, keys and values differ in size (qkv_hidden_sizes)";
}

std::string why_not_inputs(const onnx::Node& node) {
  if (input_of(node, kBias).empty()) return "it has no bias, which QAttention needs";
  for (std::size_t i = kOthers; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].empty()) return fmt::format("QAttention does not support its input {}", i);
  }
  return {};
}

std::string why_not_attention_weight(const onnx::Node& node, const std::optional<Constant>& weight) {
  if (!weight) return "its weight is not constant";
  const onnx::Tensor& tensor = *weight->tensor;
  if (tensor.type != ElementType::kFloat) return "its weight is not float32";
  if (tensor.dims.size() != 2 || tensor.element_count() == 0) return "its weight is not a matrix";
  if (weight->is_shared()) return "its weight is used elsewhere too";
  const auto heads = onnx::integer_attribute(node, "num_heads");
  if (!heads || *heads <= 0) return "its num_heads cannot be read";
  return tensor.dims[1] % 3 == 0 && tensor.dims[1] / 3 % *heads == 0 ? ""
                                                                     : "its weight does not match num_heads";
}

}  // namespace

std::string why_not_dynamic_lstm(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                 const onnx::Node& node) {
  if (std::string reason = why_not_lstm_attributes(node); !reason.empty()) return reason;
  const auto weight = find_constant(model, index, body, input_of(node, kWeight));
  const auto recurrence = find_constant(model, index, body, input_of(node, kRecurrence));
  if (std::string reason = why_not_gates(weight, "weight"); !reason.empty()) return reason;
  if (std::string reason = why_not_gates(recurrence, "recurrent weight"); !reason.empty()) return reason;
  return why_not_shapes(node, weight->tensor->dims, recurrence->tensor->dims);
}

bool is_fused_attention(const onnx::Node& node) { return node.op() == Op::kContribAttention; }

std::string why_not_dynamic_attention(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node) {
  if (opset_of(model, index, body) < kDynamicOpset)
    return fmt::format("its opset is older than {}", kDynamicOpset);
  if (std::string reason = why_not_attention_attributes(node); !reason.empty()) return reason;
  if (std::string reason = why_not_inputs(node); !reason.empty()) return reason;
  return why_not_attention_weight(node, find_constant(model, index, body, input_of(node, kWeight)));
}

namespace {

class DynamicPlanner {
 public:
  DynamicPlanner(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                 IntegerCandidates& candidates)
      : model_(model),
        index_(index),
        recipe_(recipe.integer),
        gemm_(is_static(recipe.format) ? GemmForm::kWhole : GemmForm::kSplit),
        candidates_(candidates) {}

  IntegerPlan make() {
    const bool is_among_static = gemm_ == GemmForm::kWhole;
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (is_among_static ? candidates_.is_asked_dynamic(node) : is_worth_a_reason(node))
        decide(body, position);
    });
    return std::move(plan_);
  }

 private:
  std::string why_not(std::size_t body, const onnx::Node& node, const IntegerForm* op) const {
    if (op == nullptr)
      return first_of(candidates_.override_reason(node),
                      fmt::format("{} has no dynamic kernel", node.op_type()));
    if (node.outputs.empty()) return "it has no output";
    if (op->kind == IntegerKind::kLstm)
      return first_of(candidates_.why_excluded(body, node, {1, 2}),
                      why_not_dynamic_lstm(model_, index_, body, node));
    if (op->kind == IntegerKind::kAttention)
      return first_of(candidates_.why_excluded(body, node, {1}),
                      why_not_dynamic_attention(model_, index_, body, node));
    if (op->kind == IntegerKind::kConv && !recipe_.dynamic_conv)
      return first_of(candidates_.override_reason(node),
                      "ConvInteger is several times slower than FP32 (`integer.dynamic_conv`)");
    return candidates_.why_not(body, node);
  }
  static std::string first_of(std::string a, std::string b) { return a.empty() ? b : a; }

  void decide(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    NodeDecision decision;
    decision.body = body;
    decision.node = position;
    decision.op = find_dynamic_form(node, gemm_);
    decision.reason = why_not(body, node, decision.op);
    if (decision.reason.empty()) {
      decision.arithmetic = Arithmetic::kDynamic;
      decision.output = node.outputs[0];
    }
    plan_.nodes.push_back(std::move(decision));
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  const IntegerRecipe& recipe_;
  GemmForm gemm_;
  IntegerCandidates& candidates_;
  IntegerPlan plan_;
};

}  // namespace

IntegerPlan plan_dynamic(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                         IntegerCandidates& candidates) {
  return DynamicPlanner(model, index, recipe, candidates).make();
}

namespace {

// Measured by bench/memory.py and on single layers: an AVX-512 CPU, one thread, ONNX Runtime 1.31.
constexpr double kDecoding = 27, kDecodingRows = 40;  // of 8-bit weights; of 4-bit weights unpacked at load
constexpr double kLostLayout = 0.45, kLostLayoutOfOne = 0.25;  // for kernels with several taps; with one

constexpr std::uint64_t kNothing = 100;  // 1/100 of all bytes is negligible

std::optional<std::uint64_t> positions_of_weight(const graph::InferredShapes& shapes,
                                                 const graph::Index& index, const graph::Value& weight) {
  std::uint64_t positions = 0;
  for (const graph::Use& use : weight.uses) {
    const auto found =
        use.body == 0 ? positions_of(shapes, index.node(use), use.input) : std::optional<std::uint64_t>();
    if (!found) return std::nullopt;
    positions += *found;
  }
  return positions;
}

// The cost of dequantizing a weight on every run, in multiplications for each of its values.
double cost_of(const Decision& decision, double positions) {
  const double decoding = decision.encoding == Encoding::kLinear4 ? kDecodingRows : kDecoding;
  if (decision.weight.op != Op::kConv || decision.weight.dims.size() != 4) return decoding;
  return decoding + positions * (decision.weight.kernel_taps > 1 ? kLostLayout : kLostLayoutOfOne);
}

struct Decodable {
  Decision* decision;
  std::uint64_t positions;
  double cost;  // per value
};

// The smallest weights, which together save almost no memory: 16-bit floats suit them better
// (by_structure.h).
std::set<const Decision*> smallest_of(const std::vector<Decision>& decisions) {
  std::vector<const Decision*> sorted;
  std::uint64_t left = 0;
  for (const Decision& decision : decisions) {
    left += decision.weight.bytes();
    sorted.push_back(&decision);
  }
  left /= kNothing;
  const auto bytes_of = [](const Decision* decision) { return decision->weight.bytes(); };
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
      if (can_change(decision)) planner.decode_at_runs(decision, "dequantized on every run, for low memory");
    }
    return;
  }
  const graph::InferredShapes shapes(model, index);
  std::vector<Decodable> candidates;
  double multiplications = 0;
  for (Decision& decision : decisions) {
    const auto positions = positions_of_weight(shapes, index, *decision.place.value);
    if (!positions) continue;
    const auto count = static_cast<double>(decision.weight.values());
    multiplications += count * static_cast<double>(*positions);
    // Runtimes fuse DequantizeLinear into matrix products, which then run in INT8.
    if (!can_change(decision) || is_matrix_product(decision)) continue;
    candidates.push_back({&decision, *positions, cost_of(decision, static_cast<double>(*positions))});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Decodable& a, const Decodable& b) { return a.cost < b.cost; });
  double left = recipe.decode_share * multiplications;
  for (const Decodable& candidate : candidates) {
    const double cost = candidate.cost * static_cast<double>(candidate.decision->weight.values());
    if (cost > left) continue;  // a smaller one may fit
    left -= cost;
    planner.decode_at_runs(
        *candidate.decision,
        fmt::format("dequantized on every run: about {:.1f} % of the model's time, at {} position{}",
                    100 * cost / multiplications, candidate.positions, candidate.positions == 1 ? "" : "s"));
  }
}

}  // namespace ounce::plan
