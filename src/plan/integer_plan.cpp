#include "plan/integer_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "onnx/settings.h"
#include "onnx/values.h"
#include "plan/dynamic_kernels.h"

namespace ounce::plan {
namespace {

using graph::kNone;
using graph::Use;
using onnx::Bytes;

using graph::input_of;

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

// Why a node's weight cannot be codes; empty when it can.
std::string why_not_weight(const graph::Index& index, const onnx::Node& node, const Weight* weight) {
  if (weight == nullptr) return "its weight is computed while the model runs";
  if (weight->tensor->type != onnx::ElementType::kFloat) return "its weight is not float32";
  if (weight->tensor->element_count() == 0) return "its weight is empty";
  if (weight->value->is_output) return "its weight is an output of the graph";
  for (const Use& use : weight->value->uses) {
    const onnx::Node& other = index.node(use);
    const bool is_alike = other.op_type == node.op_type && onnx::is_default_domain(other.domain) &&
                          use.input == 1 &&
                          integer_setting(other, "transB", 0) == integer_setting(node, "transB", 0);
    if (!is_alike) return fmt::format("its weight also feeds {}", other.op_type);
  }
  return {};
}

std::string why_not_bias(const onnx::Node& node, const Weight* bias, std::size_t channels) {
  if (input_of(node, 2).empty()) return {};
  if (bias == nullptr) return "its bias is computed while the model runs";
  const bool fits = bias->tensor->type == onnx::ElementType::kFloat && bias->tensor->dims.size() == 1 &&
                    bias->tensor->element_count() == channels;
  if (!fits) return "its bias is not one float32 for each channel";
  if (bias->value->uses.size() != 1 || bias->value->is_output) return "its bias is used elsewhere too";
  return {};
}

std::string why_not_shape(const onnx::Node& node, const Weight& weight) {
  const std::size_t rank = weight.tensor->dims.size();
  if (node.op_type == "Conv") return rank >= 3 ? "" : "its weight is no kernel";
  if (rank != 2) return "its weight is not a matrix";
  if (node.op_type == "MatMul") return {};
  if (integer_setting(node, "transA", 0) != 0) return "its left side is transposed";
  if (!integer_setting(node, "transB", 0)) return "its transB is not known here";
  const bool has_bias = !input_of(node, 2).empty();
  const bool is_plain =
      float_setting(node, "alpha", 1) == 1.0F && (!has_bias || float_setting(node, "beta", 1) == 1.0F);
  return is_plain ? "" : "its alpha or beta is not 1";
}

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

class StaticPlanner {
 public:
  // Without ranges every value is taken to have one.
  StaticPlanner(const graph::Index& index, const Recipe& recipe, const observe::Ranges* ranges, Seeds& seeds,
                Selection& selection)
      : index_(index), recipe_(recipe.integer), ranges_(ranges), seeds_(seeds), selection_(selection) {}

  IntegerPlan make() {
    for (const auto& [name, value] : recipe_.values) {
      if (recipe_.dialect == Dialect::kQOperator &&
          value.type.value_or(recipe_.activations) != recipe_.activations)
        throw Error(ErrorCode::kUsage,
                    "integer ops take activations of one type: --dialect qdq for --value types");
      if (ranges_ != nullptr && !ranges_->values.contains(name)) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("--value '{}' is no activation of this model that was observed", name));
      }
    }
    do {
      plan_ = {};
      for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
        const std::size_t first = plan_.nodes.size();
        find_candidates(body);
        drop_the_unwanted(first);
        choose_codings(first);
      }
    } while (seeds_.block_torn_weights(plan_));
    find_ports();
    std::erase_if(plan_.nodes, [](const NodeDecision& d) { return !d.is_integer() && d.reason.empty(); });
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (plan_.nodes[i].is_integer() && plan_.nodes[i].op->has_weight()) seeds_.note(plan_, i);
    }
    return std::move(plan_);
  }

 private:
  const observe::Statistics* statistics(const std::string& path) const {
    const auto found = ranges_->values.find(path);
    return found == ranges_->values.end() || found->second.count() == 0 ? nullptr : &found->second;
  }
  // The name under which a value was observed.
  std::string path_of(std::size_t body, Bytes name) const {
    return graph::value_path(index_, index_.find(body, name).body, name);
  }
  std::string why_kept_float(std::size_t body, Bytes name) const {
    const auto asked = recipe_.values.find(path_of(body, name));
    const bool is_kept = asked != recipe_.values.end() && asked->second.keep_float;
    return is_kept ? fmt::format("'{}' stays float, as the configuration says", name) : std::string();
  }
  std::string why_no_codes(std::size_t body, Bytes name) const {
    const auto value = index_.find(body, name);
    if (value.value == nullptr) return "it takes nothing";
    if (value.value->producer != kNone &&
        is_fused_wrongly(*index_.bodies()[value.body].nodes()[value.value->producer]))
      return fmt::format("runtimes would fuse what gives '{}' into an op that they do not have", name);
    if (ranges_ == nullptr) return {};
    const std::string path = path_of(body, name);
    const auto found = ranges_->values.find(path);
    if (std::string kept = why_kept_float(body, name); !kept.empty()) return kept;
    if (statistics(path) == nullptr) return fmt::format("no range of '{}' was observed", name);
    if (found->second.minimum() == found->second.maximum())
      return fmt::format("'{}' never varied in the calibration data", name);
    if (found->second.not_finite() != 0) return fmt::format("'{}' took values that are not finite", name);
    return {};
  }

  void find_candidates(std::size_t body) {
    const auto& nodes = index_.bodies()[body].nodes();
    makers_.clear();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const IntegerOp* op = find_integer_op(*nodes[i]);
      NodeDecision decision;
      decision.body = body;
      decision.node = i;
      if (op == nullptr) {
        if (!is_worth_a_reason(*nodes[i])) continue;
        decision.reason = fmt::format("{} has no integer kernel", nodes[i]->op_type);
      } else {
        decision.op = op;
        find_output(decision);
        decision.reason = op->has_weight() ? why_not_seed(decision) : why_not_follower(decision);
        if (decision.reason.empty()) {
          decision.arithmetic = Arithmetic::kStatic;
          decision.gives_codes = op->must_give_codes();
          if (op->may_give_codes() && why_no_codes(body, decision.output).empty())
            makers_.emplace(decision.output, plan_.nodes.size());
        } else if (!op->has_weight()) {
          decision.reason.clear();  // nobody expects it to be integer
        }
      }
      plan_.nodes.push_back(std::move(decision));
    }
  }

  // The value that the node gives, behind a clamp that can go.
  void find_output(NodeDecision& decision) const {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    decision.output = node.outputs[0];
    const graph::Value& value = *index_.find(decision.body, node.outputs[0]).value;
    const bool makes_codes = decision.op->may_give_codes() && decision.op->kind != IntegerKind::kMovement;
    if (!makes_codes || value.is_output || value.uses.size() != 1) return;
    const Use& use = value.uses[0];
    const onnx::Node& next = index_.node(use);
    const bool is_next = use.body == decision.body && use.input == 0 && next.outputs.size() == 1;
    if (!is_next || !clamp_of(decision.body, next)) return;
    decision.absorbed = use.node;
    decision.output = next.outputs[0];
  }

  // The limits of a Relu or Clip that codes can stand for: constant, with zero between them, as zero is
  // always a code.
  std::optional<ValueRange> clamp_of(std::size_t body, const onnx::Node& node) const {
    if (!is_clamp(node)) return std::nullopt;
    if (node.op_type == "Relu") return ValueRange{0, HUGE_VAL};
    ValueRange range{-HUGE_VAL, HUGE_VAL};
    for (std::size_t i = 1; i < 3; ++i) {
      if (input_of(node, i).empty()) continue;
      const std::optional<float> limit = seeds_.scalar(body, node.inputs[i]);
      if (!limit) return std::nullopt;
      (i == 1 ? range.low : range.high) = *limit;
    }
    const bool has_attributes = !node.attributes.empty();  // before opset 11
    return has_attributes || !(range.low <= 0 && range.high >= 0) ? std::nullopt : std::optional(range);
  }

  std::string why_not_seed(const NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    if (std::string reason = seeds_.why_not(decision.body, node); !reason.empty()) return reason;
    if (std::string reason = why_no_codes(decision.body, node.inputs[0]); !reason.empty()) return reason;
    return decision.op->must_give_codes() ? why_no_codes(decision.body, decision.output) : std::string();
  }

  // Only where all it gets are codes already.
  std::string why_not_follower(const NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    if (node.outputs.size() != 1) return "it has several outputs";
    for (std::size_t i = 0; i < decision.op->activations(node); ++i) {
      if (!makers_.contains(input_of(node, i))) return "not all it gets are codes";
    }
    if (std::string reason = selection_.why_not(node); !reason.empty()) return reason;
    // What is only moved keeps the codes it has.
    return decision.op->kind == IntegerKind::kMovement ? why_kept_float(decision.body, decision.output)
                                                       : why_no_codes(decision.body, decision.output);
  }

  bool is_wanted_as_codes(const NodeDecision& decision, const std::vector<std::size_t>& by_node) const {
    const graph::Value& value = *index_.find(decision.body, decision.output).value;
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      if (use.body != decision.body || by_node[use.node] == kNone) return false;
      const NodeDecision& user = plan_.nodes[by_node[use.node]];
      return user.is_integer() && use.input < user.op->activations(index_.node(use));
    });
  }

  // From the end to the front: what follows a node has been decided before it.
  void drop_the_unwanted(std::size_t first) {
    if (first == plan_.nodes.size()) return;
    std::vector<std::size_t> by_node(index_.bodies()[plan_.nodes[first].body].nodes().size(), kNone);
    for (std::size_t i = first; i < plan_.nodes.size(); ++i) by_node[plan_.nodes[i].node] = i;
    for (std::size_t i = plan_.nodes.size(); i-- > first;) {
      NodeDecision& decision = plan_.nodes[i];
      if (!decision.is_integer()) continue;
      const bool is_wanted = is_wanted_as_codes(decision, by_node);
      if (!decision.op->has_weight() && !is_wanted) {
        decision.arithmetic = Arithmetic::kFloat;
      } else if (!decision.op->must_give_codes()) {
        const bool is_port = recipe_.integer_io && is_integer_output(decision);
        decision.gives_codes = (is_wanted || is_port) && decision.op->may_give_codes();
        if (decision.gives_codes) continue;
        decision.absorbed = kNone;
        decision.output = index_.bodies()[decision.body].nodes()[decision.node]->outputs[0];
      }
    }
  }

  // An output of the model that nothing else in it reads as floats.
  bool is_integer_output(const NodeDecision& decision) const {
    const graph::Value& value = *index_.find(decision.body, decision.output).value;
    return decision.body == 0 && value.is_output && value.uses.empty() &&
           why_no_codes(decision.body, decision.output).empty();
  }

  void find_ports() {
    if (!recipe_.integer_io || ranges_ == nullptr) return;
    for (const auto& input : index_.main().graph->inputs) {
      const auto coding = plan_.codings.find({0, input->name});
      if (coding == plan_.codings.end() || has_float_users(input->name)) continue;
      plan_.ports.push_back(input_port(coding->first, coding->second));
    }
    for (const NodeDecision& decision : plan_.nodes) {
      if (!decision.is_integer() || !decision.gives_codes || !is_integer_output(decision)) continue;
      const Coding& coding = plan_.codings.at({0, decision.output});
      plan_.ports.push_back({{0, decision.output},
                             false,
                             coding.type,
                             {coding.scale},
                             {static_cast<float>(coding.zero)},
                             false,
                             true});
    }
  }

  // Do the values lie where those of raw bytes would?
  static bool are_bytes(const observe::Statistics& statistics, const RawInput& raw) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (std::size_t c = 0; c < raw.scale.size(); ++c) {
      const double at_0 = raw.offset[c], at_255 = 255 * raw.scale[c] + raw.offset[c];
      low = std::min({low, at_0, at_255});
      high = std::max({high, at_0, at_255});
    }
    const double tolerance = 1e-3 * (high - low);
    return statistics.minimum() >= low - tolerance && statistics.maximum() <= high + tolerance &&
           (statistics.channels().size() == raw.scale.size() || raw.scale.size() == 1);
  }

  // Raw bytes are the codes themselves when one scale and a whole zero say it all.
  IntegerPort input_port(const ValueKey& key, Coding& coding) const {
    IntegerPort port{key, true, coding.type, {coding.scale}, {static_cast<float>(coding.zero)}, false, true};
    const auto raw = recipe_.raw_inputs.find(std::string(key.second));
    if (raw == recipe_.raw_inputs.end() || !are_bytes(*statistics(path_of(0, key.second)), raw->second))
      return port;
    port.is_raw = true;
    port.type = onnx::ElementType::kUint8;
    port.scales.clear();
    port.zeros.clear();
    for (std::size_t c = 0; c < raw->second.scale.size(); ++c) {
      port.scales.push_back(static_cast<float>(raw->second.scale[c]));
      port.zeros.push_back(static_cast<float>(-raw->second.offset[c] / raw->second.scale[c]));
    }
    constexpr float kNearlyWhole = 1e-3F;
    const float zero = std::nearbyint(port.zeros[0]);
    port.is_coding = port.scales.size() == 1 && port.scales[0] > 0 && zero >= 0 && zero <= 255 &&
                     std::abs(zero - port.zeros[0]) < kNearlyWhole &&
                     coding.type == onnx::ElementType::kUint8;
    if (!port.is_coding) return port;
    port.zeros = {zero};
    coding.scale = port.scales[0];
    coding.zero = static_cast<std::int32_t>(zero);
    coding.range = {-double{zero} * coding.scale, (255 - double{zero}) * coding.scale};
    return port;
  }

  bool has_float_users(Bytes name) const {
    const graph::Value& value = *index_.find(0, name).value;
    if (value.is_output) return true;
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      return std::none_of(plan_.nodes.begin(), plan_.nodes.end(), [&](const NodeDecision& decision) {
        return decision.is_integer() && decision.body == use.body && decision.node == use.node &&
               use.input < decision.op->activations(index_.node(use));
      });
    });
  }

  void choose_codings(std::size_t first) {
    for (std::size_t i = first; i < plan_.nodes.size(); ++i) {
      const NodeDecision& decision = plan_.nodes[i];
      if (!decision.is_integer()) continue;
      const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
      for (std::size_t k = 0; k < decision.op->activations(node); ++k) code(decision.body, node.inputs[k]);
      if (!decision.gives_codes) continue;
      if (decision.op->kind == IntegerKind::kMovement) {
        const auto input = plan_.codings.find(key_of(decision.body, node.inputs[0]));
        plan_.codings.emplace(key_of(decision.body, decision.output), input->second);
      } else {
        code(decision.body, decision.output);
        if (decision.absorbed != kNone) hold_to_clamp(decision);
      }
    }
  }

  // A range that was asked for may go beyond what the clamp lets through.
  void hold_to_clamp(const NodeDecision& decision) {
    const onnx::Node& clamp = *index_.bodies()[decision.body].nodes()[decision.absorbed];
    const ValueRange limits = *clamp_of(decision.body, clamp);
    Coding& coding = plan_.codings.at(key_of(decision.body, decision.output));
    const ValueRange held{std::max(coding.range.low, limits.low), std::min(coding.range.high, limits.high)};
    if (held.low == coding.range.low && held.high == coding.range.high) return;
    const Coding narrow = make_coding(held, activation_type_of(coding.type), recipe_.symmetric_activations);
    coding.scale = narrow.scale;
    coding.zero = narrow.zero;
    coding.range = narrow.range;
  }

  ValueKey key_of(std::size_t body, Bytes name) const { return {index_.find(body, name).body, name}; }
  void code(std::size_t body, Bytes name) {
    const ValueKey key = key_of(body, name);
    if (plan_.codings.contains(key)) return;
    if (ranges_ == nullptr) {
      plan_.codings.emplace(key, Coding{});
      return;
    }
    plan_.codings.emplace(key, choose_coding(*statistics(path_of(body, name)), path_of(body, name), recipe_));
  }

  const graph::Index& index_;
  const IntegerRecipe& recipe_;
  const observe::Ranges* ranges_;
  Seeds& seeds_;
  Selection& selection_;
  IntegerPlan plan_;
  std::map<Bytes, std::size_t> makers_;  // values of this body that integer nodes give: by whom
};

class DynamicPlanner {
 public:
  DynamicPlanner(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, Seeds& seeds)
      : model_(model), index_(index), recipe_(recipe.integer), seeds_(seeds) {}

  IntegerPlan make() {
    do {
      plan_ = {};
      graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
        if (is_worth_a_reason(node)) decide(body, position);
      });
    } while (seeds_.block_torn_weights(plan_));
    return std::move(plan_);
  }

 private:
  std::string why_not(std::size_t body, const onnx::Node& node, const IntegerOp* op) const {
    if (op == nullptr) return fmt::format("{} has no dynamic kernel", node.op_type);
    if (node.outputs.empty()) return "it has no output";
    if (op->kind == IntegerKind::kLstm)
      return first_of(seeds_.why_excluded(body, node, {1, 2}),
                      why_not_dynamic_lstm(model_, index_, body, node));
    if (op->kind == IntegerKind::kAttention)
      return first_of(seeds_.why_excluded(body, node, {1}),
                      why_not_dynamic_attention(model_, index_, body, node));
    if (op->kind == IntegerKind::kConv && !recipe_.force_conv)
      return "ConvInteger is several times slower than FP32 (--force-conv)";
    return seeds_.why_not(body, node);
  }
  static std::string first_of(std::string a, std::string b) { return a.empty() ? b : a; }

  void decide(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    NodeDecision decision;
    decision.body = body;
    decision.node = position;
    decision.op = find_dynamic_op(node);
    decision.reason = why_not(body, node, decision.op);
    if (decision.reason.empty()) {
      decision.arithmetic = Arithmetic::kDynamic;
      decision.output = node.outputs[0];
    }
    plan_.nodes.push_back(std::move(decision));
    if (plan_.nodes.back().is_integer()) seeds_.note(plan_, plan_.nodes.size() - 1);
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  const IntegerRecipe& recipe_;
  Seeds& seeds_;
  IntegerPlan plan_;
};

}  // namespace

std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kStatic: return "static";
    case Arithmetic::kDynamic: return "dynamic";
    case Arithmetic::kFloat: break;
  }
  return "float";
}

const IntegerPort* IntegerPlan::port(const ValueKey& value) const {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const IntegerPort& port) { return port.value == value; });
  return found == ports.end() ? nullptr : &*found;
}

std::string IntegerPlan::text() const {
  std::string text;
  for (const NodeDecision& node : nodes) {
    text += fmt::format("node {}:{} {}", node.body, node.node, name_of(node.arithmetic));
    if (node.is_integer()) {
      text += fmt::format(" -> {}{}{}\n", node.output, node.gives_codes ? ", codes" : "",
                          node.absorbed != kNone ? ", clamped by its codes" : "");
    } else {
      text += fmt::format(": {}\n", node.reason);
    }
  }
  for (const IntegerPort& port : ports) {
    text += fmt::format("{} {} {}{} scale {} zero {}\n", port.is_input ? "input" : "output",
                        port.value.second, onnx::name_of(port.type), port.is_raw ? ", raw" : "",
                        fmt::join(port.scales, ","), fmt::join(port.zeros, ","));
  }
  for (const auto& [key, coding] : codings) {
    text += fmt::format("value {}:{} {} scale {} zero {}\n", key.first, key.second,
                        onnx::name_of(coding.type), coding.scale, coding.zero);
  }
  return text;
}

StaticNeeds static_needs(const onnx::Model& model, const graph::Index& index) {
  Recipe recipe;
  recipe.format = Format::kStatic;
  recipe.integer.integer_io = true;
  Selection selection(recipe);
  const std::vector<Weight> weights = find_weights(index);
  Seeds seeds(model, index, weights, recipe.integer, selection);
  const IntegerPlan plan = StaticPlanner(index, recipe, nullptr, seeds, selection).make();
  StaticNeeds needs;
  for (const auto& [key, coding] : plan.codings) needs.values.insert(key);
  for (const NodeDecision& decision : plan.nodes) {
    if (decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    needs.why_float.push_back(
        fmt::format("{} '{}': {}", node.op_type, graph::node_label(node, decision.node), decision.reason));
  }
  return needs;
}

IntegerPlan make_integer_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe,
                              const std::vector<Weight>& weights, const observe::Ranges* ranges,
                              Selection& selection) {
  Seeds seeds(model, index, weights, recipe.integer, selection);
  if (recipe.format == Format::kDynamic) return DynamicPlanner(model, index, recipe, seeds).make();
  if (recipe.format == Format::kStatic && ranges != nullptr)
    return StaticPlanner(index, recipe, ranges, seeds, selection).make();
  return {};
}

}  // namespace ounce::plan
