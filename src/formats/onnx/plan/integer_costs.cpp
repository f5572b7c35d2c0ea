#include "formats/onnx/plan/integer_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "formats/onnx/file/attributes.h"
#include "plan/float_choice/frontier.h"
#include "plan/float_choice/min_cut.h"

namespace ounce::plan {
namespace {

constexpr std::int64_t kLeastSaved = 10'000;  // nanoseconds; smaller differences are noise
// The user asked for INT8: a node moves to FP32 only if it is faster by more than the usual estimation error.
constexpr double kIntegerPreference = 0.87;
// Clamp, because sizes of hostile models may be arbitrarily large.
std::int64_t whole(double nanoseconds) {
  constexpr double kMost = 1e9;
  return nanoseconds > 0 ? std::llround(std::min(nanoseconds, kMost)) : 0;
}

class CostGraph {
 public:
  // `asked`: factor on INT8 times, to prefer INT8.
  CostGraph(const graph::Index& index, const IntegerPlan& plan, const IntegerCandidates& candidates,
            const calibration::Ranges& ranges, const KernelCosts& costs, double asked = kIntegerPreference)
      : index_(index),
        plan_(plan),
        candidates_(candidates),
        ranges_(ranges),
        costs_(costs),
        asked_(asked),
        cut_(plan.nodes.size()) {
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const NodeDecision& decision = plan_.nodes[i];
      if (decision.arithmetic != Arithmetic::kStatic) continue;
      vertices_.emplace(&node_of(decision), i);
      makers_.emplace(ValueKey{decision.body, decision.output}, i);
    }
  }

  std::set<const onnx::Node*> solve() {
    std::set<const onnx::Node*> floats;
    if (ranges_.samples == 0) return floats;
    const std::int64_t all_on_integers = build();
    if (!cut_.solve() || all_on_integers - cut_.cost() < kLeastSaved) return floats;
    for (const auto& [node, i] : vertices_) {
      if (!cut_.is_first(i)) floats.insert(node);
    }
    return floats;
  }

  // Builds the graph and returns the total time if everything runs in INT8.
  std::int64_t build() {
    std::int64_t all_on_integers = 0;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (plan_.nodes[i].arithmetic != Arithmetic::kStatic) continue;
      const Times times = times_of(plan_.nodes[i]);
      cut_.set_cost(i, whole(asked_ * times.integers), whole(times.floats));
      all_on_integers += whole(asked_ * times.integers);
    }
    for (const ValueKey& value : values()) all_on_integers += add_value(value);
    keep_shared_weights_together();
    return all_on_integers;
  }

  // After build(): the cheapest assignment if nodes have these additional prices. Empty if finding it would
  // take too long.
  std::optional<Division> divide(const Prices& prices) const {
    MinCut cut = cut_;
    for (const auto& [i, price] : prices)
      cut.set_cost(i, std::isfinite(price) ? whole(price) : MinCut::kInfinite, 0);
    if (!cut.solve()) return std::nullopt;
    Division division{std::vector<bool>(plan_.nodes.size()), static_cast<double>(cut.cost())};
    for (const auto& [node, i] : vertices_) division.is_float[i] = !cut.is_first(i);
    for (const auto& [i, price] : prices) {
      if (!division.is_float[i]) division.time -= static_cast<double>(whole(price));
    }
    return division;
  }

  Prices prices_of(const std::map<const onnx::Node*, double>& noise) const {
    Prices prices;
    for (const auto& [node, of_node] : noise) prices.emplace_back(vertices_.at(node), of_node);
    return prices;
  }
  NodeAssignment assignment_of(const Division& division) const {
    NodeAssignment assignment{{}, division.time};
    for (const auto& [node, i] : vertices_) {
      if (division.is_float[i]) assignment.floats.insert(node);
    }
    return assignment;
  }

 private:
  const onnx::Node& node_of(const NodeDecision& decision) const {
    return *index_.bodies()[decision.body].nodes()[decision.node];
  }

  // The number of elements for one sample; 0 if it was not observed.
  double count_of(const ValueKey& value) const {
    const auto found = ranges_.values.find(graph::value_path(index_, value.first, value.second));
    if (found == ranges_.values.end() || ranges_.samples == 0) return 0;
    return static_cast<double>(found->second.count()) / static_cast<double>(ranges_.samples);
  }
  ValueKey key_of(std::size_t body, Bytes name) const { return {index_.find(body, name).body, name}; }

  GemmShape shape_of(const NodeDecision& decision) const {
    const onnx::Node& node = node_of(decision);
    const auto& dims = candidates_.weight_dims(decision.body, node);
    const auto at = [&](std::size_t axis) { return static_cast<double>(dims[axis]); };
    GemmShape shape;
    if (decision.op->kind == IntegerKind::kConv) {
      shape.outputs = at(0);
      shape.inputs = at(1);
      for (std::size_t axis = 2; axis < dims.size(); ++axis) shape.kernel_size *= at(axis);
      // In 1-D, the inputs of a position are contiguous in memory; in 2-D, each tap is copied separately.
      const auto dilations = onnx::integers_attribute(node, "dilations");
      const bool is_dilated = dilations && !dilations->empty() && dilations->back() != 1;
      shape.im2col_rows = dims.size() == 3 && !is_dilated ? 1 : shape.kernel_size;
      const auto group = onnx::integer_setting(node, "group", 1);
      shape.is_depthwise = dims[1] == 1 && group == dims[0] && dims[0] > 1;
      shape.is_grouped = group != 1 && !shape.is_depthwise;
      shape.is_conv2d = dims.size() == 4;
    } else {
      const bool is_transposed = onnx::integer_setting(node, "transB", 0) == 1;
      shape.inputs = at(is_transposed ? 1 : 0);
      shape.outputs = at(is_transposed ? 0 : 1);
    }
    shape.positions = count_of({decision.body, decision.output}) / std::max(shape.outputs, 1.0);
    return shape;
  }

  Times times_of(const NodeDecision& decision) const {
    const onnx::Node& node = node_of(decision);
    switch (decision.op->kind) {
      case IntegerKind::kConv: return costs_.conv(shape_of(decision));
      case IntegerKind::kGemm: return costs_.gemm(shape_of(decision));
      case IntegerKind::kMatMul: return costs_.mat_mul(shape_of(decision));
      default: break;
    }
    const bool is_pool = node.op() == Op::kGlobalAveragePool;
    const double values =
        count_of(is_pool ? key_of(decision.body, node.inputs[0]) : ValueKey{decision.body, decision.output});
    if (decision.is_rescale_only || has_number(decision)) return times_with_scalar(decision, values);
    return costs_.elementwise(
        node.op(),
        {.values = values, .kernel_size = window_of(node), .gates_itself = gates_itself(decision)});
  }
  static double window_of(const onnx::Node& pool) {
    double kernel_size = 1;
    if (const auto window = onnx::integers_attribute(pool, "kernel_shape")) {
      for (const std::int64_t side : *window) kernel_size *= static_cast<double>(side);
    }
    return kernel_size;
  }

  // The time of an Add or Mul with a scalar. In FP32 some become part of a single op again
  // (formats/onnx/emit/static_ops.h); each other one is a pass over the values, and so is a Clip that the
  // quantization range would have replaced.
  Times times_with_scalar(const NodeDecision& decision, double values) const {
    ScalarShape op{.values = values, .is_computed = !decision.is_rescale_only};
    if (is_part_of_tanh(decision) || scales_hard_sigmoid(decision)) {
      op.passes = 0;
    } else if (is_hard_sigmoid(decision)) {
      op.is_hard_sigmoid = true;
    } else {
      op.passes = decision.absorbed != kNone ? 2 : 1;
      const NodeDecision* user = only_user_of(decision);
      const NodeDecision* maker = maker_of(decision.body, read_by(decision));
      op.reorders =
          (maker != nullptr && is_conv2d(*maker) ? 1 : 0) + (user != nullptr && is_conv2d(*user) ? 1 : 0);
    }
    return costs_.with_scalar(op);
  }

  bool has_number(const NodeDecision& decision) const { return number_of(decision).has_value(); }

  // The scalar operand of a node.
  std::optional<float> number_of(const NodeDecision& decision) const {
    const onnx::Node& node = node_of(decision);
    if (node.inputs.size() != 2 || decision.op->kind != IntegerKind::kJoin) return std::nullopt;
    const std::optional<float> second = candidates_.scalar(decision.body, node.inputs[1]);
    return second ? second : candidates_.scalar(decision.body, node.inputs[0]);
  }
  // Its other input.
  Bytes read_by(const NodeDecision& decision) const {
    const onnx::Node& node = node_of(decision);
    return node.inputs[candidates_.scalar(decision.body, node.inputs[1]) ? 0 : 1];
  }

  const NodeDecision* maker_of(std::size_t body, Bytes name) const {
    const auto maker = makers_.find(key_of(body, name));
    return maker == makers_.end() ? nullptr : &plan_.nodes[maker->second];
  }
  const NodeDecision* only_user_of(const NodeDecision& decision) const {
    const graph::Value& value = *index_.find(decision.body, decision.output).value;
    if (value.is_output || value.uses.size() != 1) return nullptr;
    const auto user = vertices_.find(&index_.node(value.uses[0]));
    return user == vertices_.end() ? nullptr : &plan_.nodes[user->second];
  }

  // x ─ Mul ─ Add ─ Clip(0, 1): the Add, or the Mul in front of it
  bool is_hard_sigmoid(const NodeDecision& decision) const {
    if (node_of(decision).op() != Op::kAdd || decision.is_rescale_only || decision.absorbed == kNone)
      return false;
    const onnx::Node& clip = *index_.bodies()[decision.body].nodes()[decision.absorbed];
    const bool is_to_one = clip.op() == Op::kClip &&
                           candidates_.scalar(decision.body, input_of(clip, 1)) == 0.0F &&
                           candidates_.scalar(decision.body, input_of(clip, 2)) == 1.0F;
    return is_to_one && is_rescale_only(maker_of(decision.body, read_by(decision)), Op::kMul);
  }
  bool scales_hard_sigmoid(const NodeDecision& decision) const {
    const NodeDecision* user = decision.is_rescale_only ? only_user_of(decision) : nullptr;
    return user != nullptr && has_number(*user) && is_hard_sigmoid(*user);
  }
  bool is_rescale_only(const NodeDecision* decision, Op op, std::optional<float> number = {}) const {
    return decision != nullptr && decision->is_rescale_only && node_of(*decision).op() == op &&
           (!number || number_of(*decision) == number);
  }

  // x ─ Mul(2) ─ Sigmoid ─ Mul(2) ─ Add(-1): one of the sums and products
  bool is_part_of_tanh(const NodeDecision& decision) const {
    if (!decision.is_rescale_only) return false;
    const NodeDecision* maker = maker_of(decision.body, read_by(decision));
    const NodeDecision* user = only_user_of(decision);
    if (is_tanh(user) || is_tanh(maker)) return true;
    return is_rescale_only(maker, Op::kMul) && is_tanh(maker_of(maker->body, read_by(*maker)));
  }
  bool is_tanh(const NodeDecision* sigmoid) const {
    if (sigmoid == nullptr || node_of(*sigmoid).op() != Op::kSigmoid) return false;
    const NodeDecision* outer = only_user_of(*sigmoid);
    return is_rescale_only(maker_of(sigmoid->body, node_of(*sigmoid).inputs[0]), Op::kMul, 2.0F) &&
           is_rescale_only(outer, Op::kMul, 2.0F) && is_rescale_only(only_user_of(*outer), Op::kAdd, -1.0F);
  }

  // True if `gate` is the Sigmoid or HardSigmoid of `x`.
  bool is_sigmoid_of(std::size_t body, Bytes gate, Bytes x) const {
    const NodeDecision* maker = maker_of(body, gate);
    if (maker == nullptr) return false;
    if (node_of(*maker).op() == Op::kSigmoid) return node_of(*maker).inputs[0] == x;
    if (!has_number(*maker) || !is_hard_sigmoid(*maker)) return false;
    const NodeDecision& scaled = *maker_of(body, read_by(*maker));
    return read_by(scaled) == x && number_of(scaled) == 1.0F / 6;
  }

  // x · Sigmoid(x), x · HardSigmoid(x)
  bool gates_itself(const NodeDecision& decision) const {
    const onnx::Node& node = node_of(decision);
    return node.op() == Op::kMul && node.inputs.size() == 2 &&
           (is_sigmoid_of(decision.body, node.inputs[0], node.inputs[1]) ||
            is_sigmoid_of(decision.body, node.inputs[1], node.inputs[0]));
  }

  // The quantized inputs and outputs of integer nodes.
  std::set<ValueKey> values() const {
    std::set<ValueKey> found;
    for (const auto& [node, i] : vertices_) {
      const NodeDecision& decision = plan_.nodes[i];
      for (std::size_t k = 0; k < decision.op->activations(node->inputs.size()); ++k) {
        if (!candidates_.scalar(decision.body, node->inputs[k]))
          found.insert(key_of(decision.body, node->inputs[k]));
      }
      if (decision.gives_codes) found.emplace(decision.body, decision.output);
    }
    return found;
  }

  bool is_conv2d(std::size_t vertex) const { return is_conv2d(plan_.nodes[vertex]); }
  bool is_conv2d(const NodeDecision& decision) const {
    return decision.op->kind == IntegerKind::kConv &&
           candidates_.weight_dims(decision.body, node_of(decision)).size() == 4;
  }
  // True if the node prefers the blocked layout in FP32, unlike kernels with few channels.
  bool wants_reordered(std::size_t vertex) const {
    const NodeDecision& decision = plan_.nodes[vertex];
    constexpr std::int64_t kBlock = 16;
    const auto& dims = candidates_.weight_dims(decision.body, node_of(decision));
    const bool is_of_groups = onnx::integer_setting(node_of(decision), "group", 1) != 1;
    return is_conv2d(vertex) && (is_of_groups || dims[1] >= kBlock);
  }

  // Adds the quantize and dequantize costs of one value. Returns the cost if everything runs in INT8.
  std::int64_t add_value(const ValueKey& key) {
    const graph::Value* value = index_.find(key.first, key.second).value;
    if (value == nullptr) return 0;
    std::vector<std::size_t> users;
    bool has_float_users = value->is_output;
    for (const Use& use : value->uses) {
      const auto user = vertices_.find(&index_.node(use));
      const bool takes_codes =
          user != vertices_.end() &&
          use.input < plan_.nodes[user->second].op->activations(index_.node(use).inputs.size());
      if (takes_codes) {
        users.push_back(user->second);
      } else {
        has_float_users = true;
      }
    }
    const auto maker = makers_.find(key);
    const bool is_made = maker != makers_.end() && plan_.nodes[maker->second].gives_codes;
    const bool touches_conv2d =
        std::any_of(users.begin(), users.end(), [this](auto i) { return is_conv2d(i); }) ||
        (is_made && is_conv2d(maker->second));
    const double count = count_of(key);
    const double reorder = touches_conv2d ? costs_.reorder(count) : 0;
    std::int64_t spent = 0;
    if (!users.empty()) {  // one QuantizeLinear for all INT8 users
      const std::size_t codes = cut_.add_vertex();
      for (const std::size_t user : users) cut_.set_edge(user, codes, MinCut::kInfinite);
      const double price = asked_ * costs_.to_codes(count);
      if (is_made) {
        cut_.set_edge(codes, maker->second, whole(price + asked_ * reorder));
        forbid_codes_of_floats(users, maker->second);
      } else {
        cut_.set_cost(codes, whole(price), 0);
        spent += whole(price);
      }
      spent += add_max_pool(*value, key.first, codes, count);
    }
    if (!is_made) {
      const bool is_spread =
          value->producer != kNone && is_softmax_over_channels(index_.find(key.first, key.second));
      add_reordering(users, is_spread ? KernelCosts::softmax_over_channels(count) : costs_.reorder(count));
      return spent;
    }
    const double price = asked_ * costs_.to_floats(count);
    if (has_float_users) {
      cut_.set_cost(maker->second, whole(price), whole(reorder));
      spent += whole(price);
    }
    if (!users.empty()) {  // one DequantizeLinear for all FP32 users
      const std::size_t floats = cut_.add_vertex();
      cut_.set_edge(maker->second, floats, whole(asked_ * reorder + (has_float_users ? 0 : price)));
      for (const std::size_t user : users) cut_.set_edge(floats, user, MinCut::kInfinite);
    }
    return spent;
  }

  // An op without weights runs in INT8 only if its inputs are quantized already (static_planner.cpp).
  void forbid_codes_of_floats(const std::vector<std::size_t>& users, std::size_t maker) {
    for (const std::size_t user : users) {
      const NodeDecision& decision = plan_.nodes[user];
      const bool takes_others =
          decision.op->activations(node_of(decision).inputs.size()) > 1 && !has_number(decision);
      if (!decision.op->has_weight() && !takes_others) cut_.set_edge(user, maker, MinCut::kInfinite);
    }
  }

  // All users of a weight must use it in the same form.
  void keep_shared_weights_together() {
    std::map<ValueKey, std::size_t> first;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const NodeDecision& decision = plan_.nodes[i];
      if (decision.arithmetic != Arithmetic::kStatic || !decision.op->has_weight()) continue;
      const auto [found, is_new] = first.emplace(key_of(decision.body, node_of(decision).inputs[1]), i);
      if (is_new) continue;
      cut_.set_edge(found->second, i, MinCut::kInfinite);
      cut_.set_edge(i, found->second, MinCut::kInfinite);
    }
  }

  // A MaxPool between an FP32 value and the users of its quantized `codes`.
  std::int64_t add_max_pool(const graph::Value& value, std::size_t body, std::size_t codes, double count) {
    if (value.producer == kNone) return 0;
    const onnx::Node& pool = *index_.bodies()[body].nodes()[value.producer];
    if (pool.op() != Op::kMaxPool || input_of(pool, 0).empty()) return 0;
    const double price = KernelCosts::max_pool_of_floats(count, window_of(pool));
    const auto maker = makers_.find(key_of(body, input_of(pool, 0)));
    if (maker != makers_.end()) {
      cut_.set_edge(codes, maker->second, whole(price));
      return 0;
    }
    cut_.set_cost(codes, whole(price), 0);
    return whole(price);
  }

  bool is_softmax_over_channels(const graph::Index::Found& found) const {
    const onnx::Node& node = *index_.bodies()[found.body].nodes()[found.value->producer];
    const auto axis = onnx::integer_setting(node, "axis", -1);
    return node.op() == Op::kSoftmax && (axis == 1 || axis == -3);
  }

  // FP32 convolution kernels use a blocked layout, to which inputs must be converted.
  void add_reordering(const std::vector<std::size_t>& users, double price) {
    std::size_t reordered = 0;
    bool is_wanted = false;
    for (const std::size_t user : users) {
      if (!wants_reordered(user)) continue;
      if (!is_wanted) reordered = cut_.add_vertex();
      is_wanted = true;
      cut_.set_edge(reordered, user, MinCut::kInfinite);
    }
    if (is_wanted) cut_.set_cost(reordered, 0, whole(price));
  }

  const graph::Index& index_;
  const IntegerPlan& plan_;
  const IntegerCandidates& candidates_;
  const calibration::Ranges& ranges_;
  const KernelCosts& costs_;
  const double asked_;
  std::map<const onnx::Node*, std::size_t> vertices_;  // integer nodes: their position in the plan
  std::map<ValueKey, std::size_t> makers_;
  MinCut cut_;
};

}  // namespace

std::set<const onnx::Node*> faster_in_floats(const graph::Index& index, const IntegerPlan& plan,
                                             const IntegerCandidates& candidates,
                                             const calibration::Ranges& ranges, const KernelCosts& costs) {
  return CostGraph(index, plan, candidates, ranges, costs).solve();
}

std::vector<NodeAssignment> frontier(const graph::Index& index, const IntegerPlan& plan,
                                     const IntegerCandidates& candidates, const calibration::Ranges& ranges,
                                     const KernelCosts& costs,
                                     const std::map<const onnx::Node*, double>& noise, bool uses_cost_model) {
  const auto assignments = [&](double asked) {
    CostGraph graph(index, plan, candidates, ranges, costs, asked);
    graph.build();
    const Prices prices = graph.prices_of(noise);
    const auto divisions = frontier(prices, [&](const Prices& those) { return graph.divide(those); });
    const bool is_faster_on_integers = !divisions.empty() && leaves_integers(divisions[0], prices) &&
                                       divisions.back().time - divisions[0].time >= kLeastSaved;
    std::vector<NodeAssignment> found;
    if (asked != 0 && !is_faster_on_integers) return found;
    for (const Division& division : divisions) found.push_back(graph.assignment_of(division));
    return found;
  };
  std::vector<NodeAssignment> found = assignments(uses_cost_model ? kIntegerPreference : 0);
  return found.empty() && uses_cost_model ? assignments(0) : found;
}

}  // namespace ounce::plan
