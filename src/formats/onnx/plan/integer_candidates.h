// The candidates for INT8: nodes with a constant weight, and the reasons that keep nodes in FP32. Static and
// dynamic planning share them.
#pragma once

#include <ounce/recipe.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/ranges.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/weights.h"

namespace ounce::plan {

using graph::input_of;
using graph::kNone;
using graph::Use;
using onnx::Bytes;

// Finds the float constants of a model by value.
class Constants {
 public:
  Constants(const onnx::Model& model, const graph::Index& index, const std::vector<Weight>& weights)
      : index_(index), may_change_inputs_(model.proto->ir_version >= 4) {
    for (const Weight& weight : weights) weights_.emplace(ValueKey{weight.graph, weight.name}, &weight);
  }

  // Null if the value is computed, may be replaced by the caller, or is not a float.
  const Weight* find(std::size_t body, Bytes name) const {
    const auto found = name.empty() ? graph::Index::Found{} : index_.find(body, name);
    if (found.value == nullptr) return nullptr;
    const auto weight = weights_.find({found.body, name});
    if (weight == weights_.end()) return nullptr;
    return weight->second->value->is_input && may_change_inputs_ ? nullptr : weight->second;
  }

 private:
  const graph::Index& index_;
  bool may_change_inputs_;
  std::map<ValueKey, const Weight*> weights_;
};

// The uses of one weight, scanned once for all nodes that share it. A scan for each user would take quadratic
// time.
class WeightUsers {
 public:
  WeightUsers(const graph::Index& index, const Weight& weight);

  // The first use that is not the weight input of an op like `node`. Null if there is none.
  const Use* first_unlike(const graph::Index& index, const onnx::Node& node) const;

 private:
  const Use* first_ = nullptr;
  const Use* other_ = nullptr;  // the first one that differs from it
};

// Why a node's weight, bias or shape keeps it in FP32; empty if none does.
std::string why_not_weight(const graph::Index& index, const onnx::Node& node, const Weight& weight,
                           const WeightUsers& users);
std::string why_not_bias(const onnx::Node& node, const Weight* bias, std::size_t channels);
std::string why_not_shape(const onnx::Node& node, const Weight& weight);

// The nodes with weights that may run in INT8, and why others may not. Static and dynamic planning share
// them.
class IntegerCandidates {
 public:
  IntegerCandidates(const onnx::Model& model, const graph::Index& index, const std::vector<Weight>& weights,
                    const NodeOverrides& overrides, Selection& selection)
      : index_(index), constants_(model, index, weights), overrides_(overrides), selection_(selection) {}

  // Why an override of the recipe keeps the node in FP32; empty if none does.
  std::string override_reason(const onnx::Node& node) const {
    return overrides_.wants_floats(node) ? "kept in FP32 by the recipe" : "";
  }
  // True if an override makes this node of a static plan dynamic.
  bool is_asked_dynamic(const onnx::Node& node) const {
    return overrides_.of(node) == Format::kInt8Dynamic &&
           find_dynamic_form(node, GemmForm::kWhole) != nullptr;
  }

  // The value of a scalar FP32 constant.
  std::optional<float> scalar(std::size_t body, Bytes name) const {
    const Weight* constant = constants_.find(body, name);
    if (constant == nullptr || constant->tensor->type != ElementType::kFloat ||
        constant->tensor->element_count() != 1)
      return std::nullopt;
    float value = 0;
    std::memcpy(&value, onnx::RawValues(*constant->tensor).bytes().data(), sizeof value);
    return value;
  }

  // Precondition: the node has a constant weight.
  const std::vector<std::int64_t>& weight_dims(std::size_t body, const onnx::Node& node) const {
    return constants_.find(body, input_of(node, 1))->tensor->dims;
  }

  // Why this node, whose op has a weight, cannot run in INT8; empty if it can.
  std::string why_not(std::size_t body, const onnx::Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0].empty()) return "it has no output";
    if (std::string reason = override_reason(node); !reason.empty()) return reason;
    if (const auto blocked = blocked_.find(&node); blocked != blocked_.end()) return blocked->second;
    const Weight* weight = constants_.find(body, input_of(node, 1));
    if (weight == nullptr) return "its weight is not constant";
    const OfWeight& facts = facts_of(*weight);
    if (!facts.why_not_selected.empty()) return facts.why_not_selected;
    if (std::string reason = why_not_weight(index_, node, *weight, facts.users); !reason.empty())
      return reason;
    if (std::string reason = why_not_shape(node, *weight); !reason.empty()) return reason;
    return why_not_bias(node, constants_.find(body, input_of(node, 2)), channels_of(node, *weight));
  }

  // Whether the recipe's `include` and `exclude` patterns rule a node out through its weights; the reason, or
  // empty.
  std::string why_excluded(std::size_t body, const onnx::Node& node,
                           std::initializer_list<std::size_t> inputs) {
    if (std::string reason = override_reason(node); !reason.empty()) return reason;
    for (const std::size_t input : inputs) {
      const Weight* weight = constants_.find(body, input_of(node, input));
      if (weight == nullptr) continue;
      if (std::string reason = facts_of(*weight).why_not_selected; !reason.empty()) return reason;
    }
    return {};
  }

  // A shared weight must be quantized in one way for all its users. Blocks nodes that share a weight with an
  // FP32 node or with another kind of integer node; the plan must then be made again. Returns false if there
  // are none.
  bool keep_shared_weights_whole(const IntegerPlan& plan) {
    std::map<const onnx::Node*, Arithmetic> integer;
    for (const NodeDecision& decision : plan.nodes) {
      if (decision.is_integer()) integer.emplace(&node_of(decision), decision.arithmetic);
    }
    const std::size_t before = blocked_.size();
    std::map<const Weight*, FirstUsers> users_of;
    for (const NodeDecision& decision : plan.nodes) {
      const Weight* weight = decision.is_integer() && decision.op->has_weight()
                                 ? constants_.find(decision.body, input_of(node_of(decision), 1))
                                 : nullptr;
      if (weight == nullptr) continue;
      const auto [found, is_new] = users_of.try_emplace(weight);
      if (is_new) found->second = first_users(*weight, integer);
      const FirstUsers& users = found->second;
      // ConvInteger supports only unsigned weights.
      const std::size_t other = decision.op->kind != IntegerKind::kConv      ? kNone
                                : decision.arithmetic == Arithmetic::kStatic ? users.dynamic_user
                                                                             : users.static_user;
      if (users.float_user == kNone && other == kNone) continue;
      blocked_.emplace(&node_of(decision),
                       users.float_user < other
                           ? "its weight also feeds a node that is kept in FP32"
                           : "its weight also feeds a node with another kind of quantization");
    }
    return blocked_.size() != before;
  }

  // Records which constants a finished plan multiplies with and adds. Dynamic kernels have stricter
  // requirements, so constants that they share with static nodes are assigned to them.
  void note_constants(IntegerPlan& plan) const {
    for (const Arithmetic arithmetic : {Arithmetic::kDynamic, Arithmetic::kStatic}) {
      for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
        const bool has_weight = arithmetic == Arithmetic::kDynamic ||
                                (plan.nodes[i].is_integer() && plan.nodes[i].op->has_weight());
        if (plan.nodes[i].arithmetic == arithmetic && has_weight) note(plan, i);
      }
    }
  }

 private:
  // Facts shared by all nodes that take a weight.
  struct OfWeight {
    std::string why_not_selected;
    WeightUsers users;
  };
  const OfWeight& facts_of(const Weight& weight) {
    const auto found = facts_.find(&weight);
    if (found != facts_.end()) return found->second;
    return facts_
        .emplace(&weight, OfWeight{selection_.why_not(texts_of(index_, weight)), WeightUsers(index_, weight)})
        .first->second;
  }

  // For each kind of arithmetic, the position of its first user in a weight's list of uses.
  struct FirstUsers {
    std::size_t float_user = kNone, static_user = kNone, dynamic_user = kNone;
  };
  FirstUsers first_users(const Weight& weight, const std::map<const onnx::Node*, Arithmetic>& integer) const {
    FirstUsers first;
    const std::vector<Use>& uses = weight.value->uses;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const auto user = integer.find(&index_.node(uses[i]));
      std::size_t& place = user == integer.end()                 ? first.float_user
                           : user->second == Arithmetic::kStatic ? first.static_user
                                                                 : first.dynamic_user;
      place = std::min(place, i);
    }
    return first;
  }

  void note(IntegerPlan& plan, std::size_t decision) const {
    const NodeDecision& made = plan.nodes[decision];
    const onnx::Node& node = *index_.bodies()[made.body].nodes()[made.node];
    const auto key = [&](std::size_t input) {
      const Bytes name = input_of(node, input);
      return ValueKey{index_.find(made.body, name).body, name};
    };
    plan.weights.emplace(key(1), decision);
    if (made.op->kind == IntegerKind::kLstm) plan.weights.emplace(key(2), decision);
    const bool codes_bias = made.arithmetic == Arithmetic::kStatic;  // dynamic nodes add it in FP32
    if (codes_bias && !input_of(node, 2).empty()) plan.biases.emplace(key(2), decision);
  }
  const onnx::Node& node_of(const NodeDecision& decision) const {
    return *index_.bodies()[decision.body].nodes()[decision.node];
  }
  static std::size_t channels_of(const onnx::Node& node, const Weight& weight) {
    const bool is_first = node.op() == Op::kConv || integer_setting(node, "transB", 0) == 1;
    return static_cast<std::size_t>(weight.tensor->dims[is_first ? 0 : 1]);
  }

  const graph::Index& index_;
  Constants constants_;
  const NodeOverrides& overrides_;
  std::map<const onnx::Node*, const char*> blocked_;  // with the reason
  Selection& selection_;
  std::map<const Weight*, OfWeight> facts_;
};

// Float nodes that belong to quantized ops of a QDQ model: nodes between DequantizeLinear and QuantizeLinear,
// which runtimes fuse into integer ops, and nodes that compute scales.

bool is_between_codes(const graph::Index& index, std::size_t body, const onnx::Node& node);

// True if all outputs of a node are used only to compute scales.
bool makes_scale(const graph::Index& index, std::size_t body, const onnx::Node& node);

// The two planners. integer_plan.h selects between them, merges their results, and repeats the planning while
// nodes disagree on a shared weight (IntegerCandidates::keep_shared_weights_whole).

// Without `ranges`, assumes that every value has one. Nodes in `in_floats` are kept in FP32. Ignores nodes
// that are overridden to be dynamic.
IntegerPlan plan_static(const graph::Index& index, const Recipe& recipe, const calibration::Ranges* ranges,
                        IntegerCandidates& candidates, Selection& selection,
                        const std::set<const onnx::Node*>& in_floats);
// Whether the plan uses the cost model: by default only for processors with measured costs.
bool uses_cost_model(const Recipe& recipe);
// The nodes that are faster in FP32 if all others run in INT8 (integer_costs.h). `candidates` must ignore
// overrides of single nodes: if a search overrides some nodes, others must not change with them.
std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const Recipe& recipe,
                                             const calibration::Ranges& ranges, IntegerCandidates& candidates,
                                             Selection& selection);
// For static recipes: only the nodes that are overridden to be dynamic.
IntegerPlan plan_dynamic(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                         IntegerCandidates& candidates);

// Checks which LSTM and Attention nodes can become DynamicQuantizeLSTM and QAttention of com.microsoft.
// formats/onnx/emit/dynamic_ops.h describes the kernels' requirements.

// Attributes that the integer kernels support.
inline constexpr std::array<std::string_view, 7> kLstmAttributes = {
    "activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget"};
inline constexpr std::array<std::string_view, 4> kAttentionAttributes = {"mask_filter_value", "num_heads",
                                                                         "scale", "unidirectional"};

// True for com.microsoft's Attention. ONNX's own Attention has no weights.
bool is_fused_attention(const onnx::Node& node);

// Why such a node is kept in FP32; empty if it can be replaced.
std::string why_not_dynamic_lstm(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                 const onnx::Node& node);
std::string why_not_dynamic_attention(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node);

// Chooses weights to dequantize on every run instead of once at load, trading time for memory.
//
// A folded weight is kept in FP32, and in several copies while a session is created (dequantized, and
// reordered for the kernels). A weight that is dequantized on every run is kept as quantized values, and
// costs
//
//   weights × kDecoding                     for dequantization, independent of the number of uses
//   weights × positions × kLostLayout       for 2-D convolutions, whose fastest kernels need constant weights
//
// in units of one multiplication. `positions` is the number of output positions at which a layer uses each
// weight (its arithmetic intensity). Dequantization therefore takes a small part of the time of models that
// use their weights often. Weights that are used least often cost the least for their bytes and are taken
// first, until Recipe::decode_share of all multiplications is spent.

// Changes the decoders of weights that are folded so far. Changes nothing if shapes are unknown.
void trade_memory(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                  const StructurePlanner& planner, std::vector<Decision>& decisions);

}  // namespace ounce::plan
