#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/integer_costs.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {
namespace {

class StaticPlanner {
 public:
  using Nodes = std::set<const onnx::Node*>;

  // Without `ranges`, assumes that every value has one. `in_floats`: nodes that are faster in FP32.
  StaticPlanner(const graph::Index& index, const Recipe& recipe, const calibration::Ranges* ranges,
                IntegerCandidates& candidates, Selection& selection, const Nodes& in_floats)
      : index_(index),
        recipe_(recipe.integer),
        ranges_(ranges),
        candidates_(candidates),
        selection_(selection),
        in_floats_(in_floats) {}

  IntegerPlan make() {
    for (const auto& [name, value] : recipe_.values) {
      if (ranges_ != nullptr && !ranges_->values.contains(name)) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("`integer.values` '{}' is not an observed activation of this model", name));
      }
    }
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const std::size_t first = plan_.nodes.size();
      find_candidates(body);
      drop_the_unwanted(first);
      choose_codings(first);
    }
    find_ports();
    std::erase_if(plan_.nodes, [](const NodeDecision& d) { return !d.is_integer() && d.reason.empty(); });
    return std::move(plan_);
  }

 private:
  const calibration::Statistics* statistics(const std::string& path) const {
    const auto found = ranges_->values.find(path);
    return found == ranges_->values.end() || found->second.count() == 0 ? nullptr : &found->second;
  }
  // The name under which calibration recorded a value.
  std::string path_of(std::size_t body, Bytes name) const {
    return graph::value_path(index_, index_.find(body, name).body, name);
  }
  std::string why_kept_float(std::size_t body, Bytes name) const {
    const auto asked = recipe_.values.find(path_of(body, name));
    const bool is_kept = asked != recipe_.values.end() && asked->second.keep_float;
    return is_kept ? fmt::format("'{}' is kept in FP32 by the configuration", name) : std::string();
  }
  // Runtimes move DequantizeLinear past ops that only move values, and fail if the value is used in a branch.
  bool is_moved_into_branch(const graph::Value& value, int& steps_left) const {
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      const onnx::Node& node = index_.node(use);
      if (!node.info().moves_weight(use.input) || node.outputs.empty() || node.outputs[0].empty())
        return false;
      const auto moved = index_.find(use.body, node.outputs[0]);
      if (moved.value == nullptr || steps_left-- <= 0) return false;
      return std::any_of(moved.value->uses.begin(), moved.value->uses.end(),
                         [&](const Use& next) { return next.body != use.body; }) ||
             is_moved_into_branch(*moved.value, steps_left);
    });
  }
  // Cached: every user of a value asks, and the answer needs a scan of all users.
  const std::string& why_no_codes(std::size_t body, Bytes name) {
    const auto value = index_.find(body, name);
    const auto [found, is_new] = why_no_codes_.try_emplace(value.value);
    if (is_new) found->second = find_why_no_codes(body, name, value);
    return found->second;
  }
  std::string find_why_no_codes(std::size_t body, Bytes name, const graph::Index::Found& value) const {
    if (value.value == nullptr) return "an input is missing";
    if (value.value->producer != kNone &&
        is_fused_wrongly(*index_.bodies()[value.body].nodes()[value.value->producer]))
      return fmt::format("runtimes would fuse the producer of '{}' into an op that they do not support",
                         name);
    if (int steps_left = kLongestSearch; is_moved_into_branch(*value.value, steps_left))
      return fmt::format(
          "runtimes crash on quantized values of '{}', which is moved and then used in a branch", name);
    if (ranges_ == nullptr) return {};
    const std::string path = path_of(body, name);
    const auto found = ranges_->values.find(path);
    if (std::string kept = why_kept_float(body, name); !kept.empty()) return kept;
    if (statistics(path) == nullptr) return fmt::format("no range of '{}' was observed", name);
    if (found->second.minimum() == found->second.maximum())
      return fmt::format("'{}' is constant in the calibration data", name);
    if (found->second.not_finite() != 0) return fmt::format("'{}' has NaN or infinite values", name);
    return {};
  }

  void find_candidates(std::size_t body) {
    const auto& nodes = index_.bodies()[body].nodes();
    makers_.clear();
    could_be_codes_.clear();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (candidates_.is_asked_dynamic(*nodes[i])) continue;
      const IntegerForm* op = find_static_form(*nodes[i]);
      NodeDecision decision;
      decision.body = body;
      decision.node = i;
      if (op == nullptr) {
        if (!is_worth_a_reason(*nodes[i])) continue;
        decision.reason = candidates_.override_reason(*nodes[i]);
        if (decision.reason.empty())
          decision.reason = fmt::format("{} has no integer kernel", nodes[i]->op_type());
      } else {
        decision.op = op;
        find_output(decision);
        const bool is_left = in_floats_.contains(&*nodes[i]);
        if (op->kind == IntegerKind::kJoin && !is_left) find_reading(decision);
        decision.reason = op->has_weight() ? why_not_seed(decision) : why_not_follower(decision);
        const bool is_asked = op->has_weight() && !candidates_.override_reason(*nodes[i]).empty();
        if (is_left || is_asked || (!op->has_weight() && could_all_be_codes(decision)))
          could_be_codes_.insert(decision.output);
        if (is_left && decision.reason.empty()) decision.reason = "is faster in FP32";
        if (decision.reason.empty()) {
          decision.arithmetic = Arithmetic::kStatic;
          decision.gives_codes = op->must_give_codes();
          const bool has_input_codes = decision.is_rescale_only || op->kind == IntegerKind::kMovement;
          if (op->may_give_codes() && (has_input_codes || why_no_codes(body, decision.output).empty()))
            makers_.emplace(decision.output, plan_.nodes.size());
        } else if (!op->has_weight()) {
          decision.reason = candidates_.override_reason(*nodes[i]);  // other ops need no reason
        }
      }
      plan_.nodes.push_back(std::move(decision));
    }
  }

  // Sets the output value of a node, after a clamp that can be absorbed.
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
    if (!is_next || !clamp_of(decision.body, next) || !candidates_.override_reason(next).empty()) return;
    decision.absorbed = use.node;
    decision.output = next.outputs[0];
  }

  // The limits of a Relu or Clip that the quantization range can replace: constant, with zero between them,
  // because zero must be representable.
  std::optional<ValueRange> clamp_of(std::size_t body, const onnx::Node& node) const {
    if (!node.info().is_clamp()) return std::nullopt;
    if (node.op() == Op::kRelu) return ValueRange{0, HUGE_VAL};
    ValueRange range{-HUGE_VAL, HUGE_VAL};
    for (std::size_t i = 1; i < 3; ++i) {
      if (input_of(node, i).empty()) continue;
      const std::optional<float> limit = candidates_.scalar(body, node.inputs[i]);
      if (!limit) return std::nullopt;
      (i == 1 ? range.low : range.high) = *limit;
    }
    const bool has_attributes = !node.attributes.empty();  // before opset 11
    return has_attributes || !(range.low <= 0 && range.high >= 0) ? std::nullopt : std::optional(range);
  }

  std::string why_not_seed(const NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    if (std::string reason = candidates_.why_not(decision.body, node); !reason.empty()) return reason;
    if (std::string reason = why_no_codes(decision.body, node.inputs[0]); !reason.empty()) return reason;
    return decision.op->must_give_codes() ? why_no_codes(decision.body, decision.output) : std::string();
  }

  // The scalar operand of an Add or Mul.
  std::optional<float> number_of(std::size_t body, const onnx::Node& node, std::size_t input) const {
    if (node.inputs.size() != 2 || (node.op() != Op::kAdd && node.op() != Op::kMul)) return std::nullopt;
    const std::optional<float> number = candidates_.scalar(body, node.inputs[input]);
    constexpr float kLeast = 1e-6F, kMost = 1e6F;
    const bool is_usual = number && std::abs(*number) >= kLeast && std::abs(*number) <= kMost;
    return is_usual ? number : std::nullopt;
  }

  // The quantized input of a rescale-only node.
  Bytes read_by(const NodeDecision& decision) const {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    return node.inputs[number_of(decision.body, node, 0) ? 1 : 0];
  }

  void find_reading(NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    if (node.inputs.size() != 2 || node.outputs.size() != 1 || decision.absorbed != kNone) return;
    const auto first = number_of(decision.body, node, 0), second = number_of(decision.body, node, 1);
    if (first.has_value() == second.has_value()) return;
    const float number = first ? *first : *second;
    const Bytes codes = node.inputs[first ? 1 : 0];
    if (!makers_.contains(codes) || index_.find(decision.body, decision.output).value->is_output) return;
    decision.is_rescale_only =
        node.op() == Op::kMul ? number > 0 : number < 0 && can_be_added(codes, -number);
  }

  // After a Sigmoid, whose range is known and which has no other users, the scale is chosen so that the
  // number is a whole number of steps.
  bool can_be_added(Bytes codes, double number) {
    std::size_t maker = makers_.at(codes);
    while (true) {
      const NodeDecision& decision = plan_.nodes[maker];
      const graph::Value& value = *index_.find(decision.body, decision.output).value;
      if (value.uses.size() != 1 || value.is_output) return false;
      if (!decision.is_rescale_only) break;
      const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
      if (node.op() != Op::kMul) return false;
      number /= double{*number_of(decision.body, node, number_of(decision.body, node, 0) ? 0 : 1)};
      maker = makers_.at(read_by(decision));
    }
    NodeDecision& decision = plan_.nodes[maker];
    constexpr double kLeast = 0.25, kMost = 1;  // of the range of a Sigmoid
    const bool is_sigmoid = index_.bodies()[decision.body].nodes()[decision.node]->op() == Op::kSigmoid;
    if (!is_sigmoid || decision.absorbed != kNone || number < kLeast || number > kMost) return false;
    decision.zero_shift = number;
    return true;
  }

  // True for nodes that are faster in FP32 although an integer op could use all their outputs quantized.
  bool could_all_be_codes(const NodeDecision& decision) const {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    bool could = false;
    for (std::size_t i = 0; i < decision.op->activations(node.inputs.size()); ++i) {
      if (number_of(decision.body, node, i)) continue;
      if (!could_be_codes_.contains(input_of(node, i))) return false;
      could = true;
    }
    return could;
  }

  // A node without weights runs in INT8 only if all its inputs are quantized already.
  std::string why_not_follower(const NodeDecision& decision) {
    const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
    if (node.outputs.size() != 1) return "it has several outputs";
    if (std::string reason = candidates_.override_reason(node); !reason.empty()) return reason;
    bool takes_codes = false;
    for (std::size_t i = 0; i < decision.op->activations(node.inputs.size()); ++i) {
      const bool is_code = makers_.contains(input_of(node, i));
      const bool could_be = could_be_codes_.contains(input_of(node, i)) &&
                            why_no_codes(decision.body, input_of(node, i)).empty();
      if (!is_code && !could_be && !number_of(decision.body, node, i))
        return "some of its inputs are not quantized";
      takes_codes |= is_code;
    }
    if (!takes_codes) return "some of its inputs are not quantized";
    if (std::string reason = selection_.why_not(texts_of(node)); !reason.empty()) return reason;
    // A movement or rescale-only node keeps the quantized values of its input.
    return decision.op->kind == IntegerKind::kMovement || decision.is_rescale_only
               ? why_kept_float(decision.body, decision.output)
               : why_no_codes(decision.body, decision.output);
  }

  bool is_wanted_as_codes(const NodeDecision& decision, const std::vector<std::size_t>& by_node) const {
    const graph::Value& value = *index_.find(decision.body, decision.output).value;
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      if (use.body != decision.body || by_node[use.node] == kNone) return false;
      const NodeDecision& user = plan_.nodes[by_node[use.node]];
      return user.is_integer() && use.input < user.op->activations(index_.node(use).inputs.size());
    });
  }

  // Runs backward, so that the users of a node are decided before the node.
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

  // An output of the model that no other node reads in FP32.
  bool is_integer_output(const NodeDecision& decision) {
    const graph::Value& value = *index_.find(decision.body, decision.output).value;
    return decision.body == 0 && value.is_output && value.uses.empty() &&
           why_no_codes(decision.body, decision.output).empty();
  }

  void find_ports() {
    if (!recipe_.integer_io || ranges_ == nullptr) return;
    std::map<const onnx::Node*, const IntegerForm*> integer;
    for (const NodeDecision& decision : plan_.nodes) {
      if (decision.is_integer())
        integer.emplace(&*index_.bodies()[decision.body].nodes()[decision.node], decision.op);
    }
    for (const auto& input : index_.main().graph->inputs) {
      const auto quantization = plan_.activations.find({0, input->name});
      if (quantization == plan_.activations.end() || has_float_users(input->name, integer)) continue;
      plan_.ports.push_back(input_port(quantization->first, quantization->second));
    }
    for (const NodeDecision& decision : plan_.nodes) {
      if (!decision.is_integer() || !decision.gives_codes || !is_integer_output(decision)) continue;
      const ActivationQuantization& quantization = plan_.activations.at({0, decision.output});
      plan_.ports.push_back({{0, decision.output},
                             false,
                             quantization.type,
                             {quantization.scale},
                             {static_cast<float>(quantization.zero)},
                             false,
                             true});
    }
  }

  // True if the values are in the range of the raw bytes.
  static bool are_bytes(const calibration::Statistics& statistics, const RawInput& raw) {
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

  // Raw bytes are the quantized values if one scale and an integer zero point describe them.
  IntegerPort input_port(const ValueKey& key, ActivationQuantization& quantization) const {
    IntegerPort port{
        key,   true, quantization.type, {quantization.scale}, {static_cast<float>(quantization.zero)},
        false, true};
    const auto raw = recipe_.raw_inputs.find(std::string(key.second));
    if (raw == recipe_.raw_inputs.end() || !are_bytes(*statistics(path_of(0, key.second)), raw->second))
      return port;
    port.is_raw = true;
    port.type = ElementType::kUint8;
    port.scales.clear();
    port.zeros.clear();
    for (std::size_t c = 0; c < raw->second.scale.size(); ++c) {
      port.scales.push_back(static_cast<float>(raw->second.scale[c]));
      port.zeros.push_back(static_cast<float>(-raw->second.offset[c] / raw->second.scale[c]));
    }
    constexpr float kNearlyWhole = 1e-3F;
    const float zero = std::nearbyint(port.zeros[0]);
    port.is_activation = port.scales.size() == 1 && port.scales[0] > 0 && zero >= 0 && zero <= 255 &&
                         std::abs(zero - port.zeros[0]) < kNearlyWhole &&
                         quantization.type == ElementType::kUint8;
    if (!port.is_activation) return port;
    port.zeros = {zero};
    quantization.scale = port.scales[0];
    quantization.zero = static_cast<std::int32_t>(zero);
    quantization.range = {-double{zero} * quantization.scale, (255 - double{zero}) * quantization.scale};
    return port;
  }

  bool has_float_users(Bytes name, const std::map<const onnx::Node*, const IntegerForm*>& integer) const {
    const graph::Value& value = *index_.find(0, name).value;
    if (value.is_output) return true;
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      const auto user = integer.find(&index_.node(use));
      return user == integer.end() || use.input >= user->second->activations(index_.node(use).inputs.size());
    });
  }

  void choose_codings(std::size_t first) {
    for (std::size_t i = first; i < plan_.nodes.size(); ++i) {
      const NodeDecision& decision = plan_.nodes[i];
      if (!decision.is_integer()) continue;
      const onnx::Node& node = *index_.bodies()[decision.body].nodes()[decision.node];
      for (std::size_t k = 0; k < decision.op->activations(node.inputs.size()); ++k) {
        const auto number = number_of(decision.body, node, k);
        if (!number) {
          code(decision.body, node.inputs[k]);
        } else if (!decision.is_rescale_only) {
          plan_.numbers.emplace(key_of(decision.body, node.inputs[k]), code_of(*number));
        }
      }
      if (!decision.gives_codes) continue;
      if (decision.is_rescale_only) {
        read_otherwise(decision, node);
      } else if (decision.op->kind == IntegerKind::kMovement) {
        const auto input = plan_.activations.find(key_of(decision.body, node.inputs[0]));
        plan_.activations.emplace(key_of(decision.body, decision.output), input->second);
      } else {
        code(decision.body, decision.output);
        if (decision.absorbed != kNone) hold_to_clamp(decision);
        if (decision.zero_shift > 0) make_whole(decision);
      }
    }
  }

  // The number as one step from zero, positive or negative.
  ScalarOperand code_of(float number) const {
    ScalarOperand made;
    made.quantization.type = element_type_of(recipe_.activations);
    made.quantization.scale = std::abs(number);
    made.quantization.range = {std::min(number, 0.0F), std::max(number, 0.0F)};
    made.quantization.zero = number > 0 || limits_of(made.quantization.type).low < 0 ? 0 : 1;
    made.code = made.quantization.zero + (number > 0 ? 1 : -1);
    return made;
  }

  // Rescaled value: (q - zero)·scale·k, or (q - zero)·scale - n·scale.
  void read_otherwise(const NodeDecision& decision, const onnx::Node& node) {
    const bool is_first = number_of(decision.body, node, 0).has_value();
    const float number = *number_of(decision.body, node, is_first ? 0 : 1);
    ActivationQuantization quantization =
        plan_.activations.at(key_of(decision.body, node.inputs[is_first ? 1 : 0]));
    if (node.op() == Op::kMul) {
      quantization.scale *= number;
      quantization.range = {quantization.range.low * number, quantization.range.high * number};
    } else {
      quantization.zero -= static_cast<std::int32_t>(std::lround(number / quantization.scale));
      quantization.range = {quantization.range.low + number, quantization.range.high + number};
    }
    plan_.activations.emplace(key_of(decision.body, decision.output), quantization);
  }

  void make_whole(const NodeDecision& decision) {
    ActivationQuantization& quantization = plan_.activations.at(key_of(decision.body, decision.output));
    const double most =
        limits_of(quantization.type).high - quantization.zero;  // otherwise the new zero is not representable
    const double steps = std::min(std::floor(decision.zero_shift / quantization.scale), most);
    quantization.scale = static_cast<float>(decision.zero_shift / std::max(steps, 1.0));
  }

  // A configured range may exceed the limits of the clamp.
  void hold_to_clamp(const NodeDecision& decision) {
    const onnx::Node& clamp = *index_.bodies()[decision.body].nodes()[decision.absorbed];
    const ValueRange limits = *clamp_of(decision.body, clamp);
    ActivationQuantization& quantization = plan_.activations.at(key_of(decision.body, decision.output));
    const ValueRange held{std::max(quantization.range.low, limits.low),
                          std::min(quantization.range.high, limits.high)};
    if (held.low == quantization.range.low && held.high == quantization.range.high) return;
    const ActivationQuantization narrow =
        make_quantization(held, activation_type_of(quantization.type), recipe_.symmetric_activations);
    quantization.scale = narrow.scale;
    quantization.zero = narrow.zero;
    quantization.range = narrow.range;
  }

  ValueKey key_of(std::size_t body, Bytes name) const { return {index_.find(body, name).body, name}; }
  void code(std::size_t body, Bytes name) {
    const ValueKey key = key_of(body, name);
    if (plan_.activations.contains(key)) return;
    if (ranges_ == nullptr) {
      plan_.activations.emplace(key, ActivationQuantization{});
      return;
    }
    plan_.activations.emplace(key, choose_quantization(*ranges_, path_of(body, name), recipe_));
  }

  const graph::Index& index_;
  const IntegerRecipe& recipe_;
  const calibration::Ranges* ranges_;
  IntegerCandidates& candidates_;
  Selection& selection_;
  IntegerPlan plan_;
  const Nodes& in_floats_;
  std::map<Bytes, std::size_t> makers_;  // outputs of integer nodes in this body, and their nodes
  std::map<const graph::Value*, std::string> why_no_codes_;
  std::set<Bytes> could_be_codes_;  // outputs in this body of nodes that are kept in FP32 by choice
};

bool has_integers(const IntegerPlan& plan) {
  return std::any_of(plan.nodes.begin(), plan.nodes.end(),
                     [](const NodeDecision& decision) { return decision.is_integer(); });
}

}  // namespace

IntegerPlan plan_static(const graph::Index& index, const Recipe& recipe, const calibration::Ranges* ranges,
                        IntegerCandidates& candidates, Selection& selection,
                        const std::set<const onnx::Node*>& in_floats) {
  return StaticPlanner(index, recipe, ranges, candidates, selection, in_floats).make();
}

bool uses_cost_model(const Recipe& recipe) {
  return recipe.integer.use_cost_model && !recipe.integer.integer_io && has_measured_costs(recipe.target);
}

std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const Recipe& recipe,
                                             const calibration::Ranges& ranges, IntegerCandidates& candidates,
                                             Selection& selection) {
  if (!uses_cost_model(recipe)) return {};
  const IntegerPlan plan = plan_static(index, recipe, &ranges, candidates, selection, {});
  auto faster = faster_in_floats(index, plan, candidates, ranges, KernelCosts(costed_cpus(recipe.target)));
  // The user asked for INT8: slower integer nodes are better than none.
  if (!has_integers(plan_static(index, recipe, &ranges, candidates, selection, faster))) faster.clear();
  return faster;
}

}  // namespace ounce::plan
