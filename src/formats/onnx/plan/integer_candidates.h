// The nodes that planning starts from: those with a constant weight, and why one of them cannot compute on
// integers. Static and dynamic planning share them.
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

// The float constants of a model by the value they are.
class Constants {
 public:
  Constants(const onnx::Model& model, const graph::Index& index, const std::vector<Weight>& weights)
      : index_(index), may_change_inputs_(model.proto->ir_version >= 4) {
    for (const Weight& weight : weights) weights_.emplace(ValueKey{weight.graph, weight.name}, &weight);
  }

  // Null when the value is computed, may be given by the caller, or is no float.
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

// The uses of one weight, looked at once for all nodes that take it: each of many users asks, so a walk over
// all of them for each would take quadratic time.
class WeightUsers {
 public:
  WeightUsers(const graph::Index& index, const Weight& weight);

  // The first use that is not the weight of an op like `node`. Null when all are.
  const Use* first_unlike(const graph::Index& index, const onnx::Node& node) const;

 private:
  const Use* first_ = nullptr;
  const Use* other_ = nullptr;  // the first one that differs from it
};

// Why a node's weight, bias or shape keeps it in FP32; empty when none does.
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
    return overrides_.wants_floats(node) ? "is to compute on floats" : "";
  }
  // Does an override make the node of a static plan dynamic?
  bool is_asked_dynamic(const onnx::Node& node) const {
    return overrides_.of(node) == Format::kInt8Dynamic &&
           find_dynamic_form(node, GemmForm::kWhole) != nullptr;
  }

  // The value of a constant that is a single float.
  std::optional<float> scalar(std::size_t body, Bytes name) const {
    const Weight* constant = constants_.find(body, name);
    if (constant == nullptr || constant->tensor->type != ElementType::kFloat ||
        constant->tensor->element_count() != 1)
      return std::nullopt;
    float value = 0;
    std::memcpy(&value, onnx::RawValues(*constant->tensor).bytes().data(), sizeof value);
    return value;
  }

  // Of a node with a constant weight.
  const std::vector<std::int64_t>& weight_dims(std::size_t body, const onnx::Node& node) const {
    return constants_.find(body, input_of(node, 1))->tensor->dims;
  }

  // Why this node, whose op has a weight, cannot compute on integers; empty when it can.
  std::string why_not(std::size_t body, const onnx::Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0].empty()) return "it has no output";
    if (std::string reason = override_reason(node); !reason.empty()) return reason;
    if (const auto blocked = blocked_.find(&node); blocked != blocked_.end()) return blocked->second;
    const Weight* weight = constants_.find(body, input_of(node, 1));
    if (weight == nullptr) return "its weight is computed while the model runs";
    const OfWeight& facts = facts_of(*weight);
    if (!facts.why_not_selected.empty()) return facts.why_not_selected;
    if (std::string reason = why_not_weight(index_, node, *weight, facts.users); !reason.empty())
      return reason;
    if (std::string reason = why_not_shape(node, *weight); !reason.empty()) return reason;
    return why_not_bias(node, constants_.find(body, input_of(node, 2)), channels_of(node, *weight));
  }

  // What --include and --exclude say of a node through its weights.
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

  // A weight is codes for all or for none: nodes whose weight another node takes as floats, or as codes of
  // another kind, are blocked, and planning has to begin anew. False when there are none.
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
      // ConvInteger takes unsigned codes only.
      const std::size_t other = decision.op->kind != IntegerKind::kConv      ? kNone
                                : decision.arithmetic == Arithmetic::kStatic ? users.dynamic_user
                                                                             : users.static_user;
      if (users.float_user == kNone && other == kNone) continue;
      blocked_.emplace(&node_of(decision), users.float_user < other
                                               ? "its weight also feeds a node that stays in floats"
                                               : "its weight also feeds a node that computes otherwise");
    }
    return blocked_.size() != before;
  }

  // Says in a plan whose nodes are all there which constants they multiply with and add. Kernels of dynamic
  // nodes are the choosier ones: what they share with others is theirs.
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
  // What is the same for all nodes that take a weight.
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

  // The places, in the list of a weight's uses, of the first ones that compute so.
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
    const bool codes_bias = made.arithmetic == Arithmetic::kStatic;  // others add it in floats
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
  std::map<const onnx::Node*, const char*> blocked_;  // and why
  Selection& selection_;
  std::map<const Weight*, OfWeight> facts_;
};

// Float nodes that belong to integer arithmetic: those between DequantizeLinear and QuantizeLinear, which
// runtimes make integer ops, and those that make the scales of codes.

bool is_between_codes(const graph::Index& index, std::size_t body, const onnx::Node& node);

// Does all that a node gives end as a scale of codes?
bool makes_scale(const graph::Index& index, std::size_t body, const onnx::Node& node);

// The two ways to plan integer arithmetic; integer_plan.h chooses between them, joins what they say, and has
// them plan anew while nodes disagree on a weight that they share
// (IntegerCandidates::keep_shared_weights_whole).

// Without ranges every value is taken to have one. Nodes `in_floats` stay there. Says nothing of nodes that
// are asked to be dynamic.
IntegerPlan plan_static(const graph::Index& index, const Recipe& recipe, const calibration::Ranges* ranges,
                        IntegerCandidates& candidates, Selection& selection,
                        const std::set<const onnx::Node*>& in_floats);
// Does the plan of a recipe use the cost model? Only for processors that were measured, unless the recipe
// says otherwise.
bool uses_cost_model(const Recipe& recipe);
// The nodes that are faster in FP32 when all others run in INT8 (integer_costs.h). `candidates` are without
// overrides of single nodes: a search that moves these must not move others with them.
std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const Recipe& recipe,
                                             const calibration::Ranges& ranges, IntegerCandidates& candidates,
                                             Selection& selection);
// Of a static recipe: only the nodes that are asked to be dynamic.
IntegerPlan plan_dynamic(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                         IntegerCandidates& candidates);

// Which LSTM and Attention nodes can become DynamicQuantizeLSTM and QAttention of com.microsoft. What is
// known of those kernels, and how, is said in formats/onnx/emit/dynamic_ops.h.

// Attributes that the kernels have too.
inline constexpr std::array<std::string_view, 7> kLstmAttributes = {
    "activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size", "input_forget"};
inline constexpr std::array<std::string_view, 4> kAttentionAttributes = {"mask_filter_value", "num_heads",
                                                                         "scale", "unidirectional"};

// Is it com.microsoft's Attention? (ONNX has an op of that name, too, which has no weights.)
bool is_fused_attention(const onnx::Node& node);

// Why such a node stays in floats; empty when it can be replaced.
std::string why_not_dynamic_lstm(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                 const onnx::Node& node);
std::string why_not_dynamic_attention(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node);

// Which weights are decoded at every run instead of once at load: the trade between memory and time.
//
// A weight that is folded is held as FP32, and while a session is created several times over (decoded, and
// again in the order that the kernels want). Decoded at every run it is held as its codes, and costs
//
//   weights × kDecoding                     the decoding itself, however often a weight is used then
//   weights × positions × kLostLayout       for 2-D convolutions, whose fastest kernels want constant weights
//
// in units of one multiplication. `positions`, at how many places of its output a layer uses each weight, is
// the arithmetic intensity. So decoding takes a small part of the time of a model that uses its weights
// often, and of its tensors those are the cheapest for their bytes that are used the least often. They are
// taken first, until Recipe::decode_share of all multiplications is spent.

// Changes the decoders of what is folded so far. Where shapes are not known, nothing changes.
void trade_memory(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                  const StructurePlanner& planner, std::vector<Decision>& decisions);

}  // namespace ounce::plan
