// The nodes that planning starts from: those with a constant weight, and why one of them cannot compute on
// integers. Static and dynamic planning share them.
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/constants.h"
#include "graph/index.h"
#include "onnx/model.h"
#include "onnx/settings.h"
#include "onnx/values.h"
#include "plan/integer_plan.h"
#include "plan/selection.h"
#include "plan/weights.h"

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
    for (const Weight& weight : weights) weights_.emplace(ValueKey{weight.body, weight.name}, &weight);
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

// Why a node's weight, bias or shape keeps it in floats; empty when it does not.
std::string why_not_weight(const graph::Index& index, const onnx::Node& node, const Weight* weight);
std::string why_not_bias(const onnx::Node& node, const Weight* bias, std::size_t channels);
std::string why_not_shape(const onnx::Node& node, const Weight& weight);

// What static and dynamic planning share: the nodes with weights.
class Seeds {
 public:
  Seeds(const onnx::Model& model, const graph::Index& index, const std::vector<Weight>& weights,
        const IntegerRecipe& recipe, Selection& selection)
      : index_(index),
        constants_(model, index, weights),
        float_nodes_(recipe.float_nodes),
        selection_(selection) {}

  // The value of a constant that is a single float.
  std::optional<float> scalar(std::size_t body, Bytes name) const {
    const Weight* constant = constants_.find(body, name);
    if (constant == nullptr || constant->tensor->type != onnx::ElementType::kFloat ||
        constant->tensor->element_count() != 1)
      return std::nullopt;
    float value = 0;
    std::memcpy(&value, onnx::RawValues(*constant->tensor).bytes().data(), sizeof value);
    return value;
  }

  // Why this node, whose op has a weight, cannot compute on integers; empty when it can.
  std::string why_not(std::size_t body, const onnx::Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0].empty()) return "it has no output";
    if (is_to_stay_float(body, node)) return "floats give better results here";
    if (blocked_.contains(&node)) return "its weight also feeds a node that stays in floats";
    const Weight* weight = constants_.find(body, input_of(node, 1));
    if (weight != nullptr) {
      if (std::string reason = selection_.why_not(index_, *weight); !reason.empty()) return reason;
    }
    if (std::string reason = why_not_weight(index_, node, weight); !reason.empty()) return reason;
    if (std::string reason = why_not_shape(node, *weight); !reason.empty()) return reason;
    return why_not_bias(node, constants_.find(body, input_of(node, 2)), channels_of(node, *weight));
  }

  // What --include and --exclude say of a node through its weights.
  std::string why_excluded(std::size_t body, const onnx::Node& node,
                           std::initializer_list<std::size_t> inputs) const {
    if (is_to_stay_float(body, node)) return "floats give better results here";
    for (const std::size_t input : inputs) {
      const Weight* weight = constants_.find(body, input_of(node, input));
      if (weight == nullptr) continue;
      if (std::string reason = selection_.why_not(index_, *weight); !reason.empty()) return reason;
    }
    return {};
  }

  // A weight is codes for all or for none: nodes whose weight another node takes as floats are blocked, and
  // planning has to begin anew. False when there are none.
  bool block_torn_weights(const IntegerPlan& plan) {
    std::set<const onnx::Node*> integer;
    for (const NodeDecision& decision : plan.nodes) {
      if (decision.is_integer()) integer.insert(&node_of(decision));
    }
    const std::size_t before = blocked_.size();
    for (const NodeDecision& decision : plan.nodes) {
      const Weight* weight = decision.is_integer() && decision.op->has_weight()
                                 ? constants_.find(decision.body, input_of(node_of(decision), 1))
                                 : nullptr;
      if (weight == nullptr) continue;
      const auto& uses = weight->value->uses;
      const bool is_torn = std::any_of(uses.begin(), uses.end(),
                                       [&](const Use& use) { return !integer.contains(&index_.node(use)); });
      if (is_torn) blocked_.insert(&node_of(decision));
    }
    return blocked_.size() != before;
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

 private:
  bool is_to_stay_float(std::size_t body, const onnx::Node& node) const {
    return !float_nodes_.empty() && !node.outputs.empty() &&
           float_nodes_.contains(graph::value_path(index_, body, node.outputs[0]));
  }
  const onnx::Node& node_of(const NodeDecision& decision) const {
    return *index_.bodies()[decision.body].nodes()[decision.node];
  }
  static std::size_t channels_of(const onnx::Node& node, const Weight& weight) {
    const bool is_first = node.op_type == "Conv" || integer_setting(node, "transB", 0) == 1;
    return static_cast<std::size_t>(weight.tensor->dims[is_first ? 0 : 1]);
  }

  const graph::Index& index_;
  Constants constants_;
  const std::set<std::string>& float_nodes_;
  std::set<const onnx::Node*> blocked_;
  Selection& selection_;
};

}  // namespace ounce::plan
