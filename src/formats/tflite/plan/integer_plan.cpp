#include "formats/tflite/plan/integer_plan.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/integer_costs.h"
#include "plan/weights/selection.h"

namespace ounce::tflite {
namespace {

std::vector<std::optional<Format>> asked_formats(const IntegerModel& prepared, const Recipe& recipe) {
  std::vector<plan::NodeNames> names;
  for (std::size_t op = 0; op < prepared.candidates().size(); ++op)
    names.push_back({prepared.name_of(op), {}});
  plan::NamedFormats found = plan::find_named_formats(recipe, names);
  if (found.has_unknown) {
    throw Error(ErrorCode::kUsage, fmt::format("no operator gives '{}', which `nodes` names{}",
                                               plain(found.unknown), plan::did_you_mean(found.guess)));
  }
  return std::move(found.formats);
}

class IntegerPlanner {
 public:
  IntegerPlanner(const IntegerModel& prepared, const calibration::Ranges& ranges, const Recipe& recipe)
      : prepared_(prepared), ranges_(ranges), recipe_(recipe) {}

  // Fills in `decisions`; the operators that are left.
  std::vector<bool> possible(std::vector<OpDecision>& decisions) {
    const std::vector<std::optional<Format>> asked = asked_formats(prepared_, recipe_);
    plan::Selection selection(recipe_);
    decisions.assign(candidates().size(), {});
    std::vector<bool> is_integer(candidates().size());
    for (std::size_t op = 0; op < candidates().size(); ++op) {
      const IntegerCandidate& candidate = candidates()[op];
      std::string& reason = decisions[op].reason;
      reason = candidate.why_float;
      if (candidate.has_kernel) reason = why_not_here(op, asked[op], selection);
      is_integer[op] = candidate.has_kernel && reason.empty();
    }
    drop_unfit(is_integer, decisions);
    return is_integer;
  }

  IntegerPlan make() {
    IntegerPlan plan;
    std::vector<bool> is_integer = possible(plan.ops);
    if (uses_cost_model()) {
      const std::vector<bool> floats =
          faster_in_floats(prepared_.model(), prepared_.flow(), candidates(), is_integer, ranges_);
      for (std::size_t op = 0; op < floats.size(); ++op) {
        if (!floats[op]) continue;
        is_integer[op] = false;
        plan.ops[op].reason = "FP32 is faster here";
      }
      drop_unfit(is_integer, plan.ops);
    }
    plan.scales = choose(is_integer);
    for (std::size_t op = 0; op < is_integer.size(); ++op) {
      if (!is_integer[op]) continue;
      plan.ops[op] = {Arithmetic::kStatic, {}};
      if (!candidates()[op].has_weight()) continue;
      OpWeights weights = weights_of(op, plan.scales);
      if (recipe_.integer.correct_bias && weights.bias != Flow::kNone) correct(op, weights);
      plan.weights.emplace(op, std::move(weights));
    }
    if (recipe_.integer.integer_io) {
      const ActivationType type = recipe_.integer.activations;
      plan.io = is_wide()                     ? ElementType::kInt16
                : type == ActivationType::kU8 ? ElementType::kUint8
                                              : ElementType::kInt8;
    }
    return plan;
  }

  bool uses_cost_model() const {
    return recipe_.integer.use_cost_model && !recipe_.integer.integer_io && !is_wide();
  }

 private:
  const std::vector<IntegerCandidate>& candidates() const { return prepared_.candidates(); }
  bool is_wide() const { return is_16_bit(recipe_.integer.activations); }

  std::string why_not_here(std::size_t op, const std::optional<Format>& asked,
                           plan::Selection& selection) const {
    const IntegerCandidate& candidate = candidates()[op];
    if (asked && *asked != Format::kInt8) return fmt::format("asked for as {}", name_of(*asked));
    const std::string name = prepared_.name_of(op);
    const std::string why = selection.why_not({name, candidate.row->name});
    if (!why.empty()) return why;
    if (is_wide() && !candidate.row->has_int16) return "it has no kernel for 16-bit activations";
    for (const std::size_t value : values_of(op)) {
      const std::string& value_name = prepared_.flow().names[value];
      const auto seen = ranges_.values.find(value_name);
      if (seen == ranges_.values.end() || seen->second.count() == 0)
        return fmt::format("'{}' was not observed", plain(value_name));
      if (seen->second.not_finite() != 0)
        return fmt::format("'{}' has NaN or infinite values", plain(value_name));
      const auto wish = recipe_.integer.values.find(value_name);
      if (wish != recipe_.integer.values.end() && wish->second.keep_float)
        return fmt::format("'{}' is to be kept in FP32", plain(value_name));
    }
    if (!candidate.has_weight()) return {};
    const auto weight =
        static_cast<std::size_t>(prepared_.graph().operators[op].inputs[candidate.row->weight]);
    return prepared_.weights().of(weight).is_finite ? std::string() : "its weight has NaN or infinite values";
  }
  std::vector<std::size_t> values_of(std::size_t op) const {
    std::vector<std::size_t> values = candidates()[op].outputs;
    for (const std::size_t i : candidates()[op].data)
      values.push_back(static_cast<std::size_t>(prepared_.graph().operators[op].inputs[i]));
    return values;
  }

  Scales choose(const std::vector<bool>& is_integer) const {
    return choose_scales(prepared_.model(), prepared_.flow(), candidates(), is_integer, ranges_,
                         recipe_.integer);
  }

  // An operator less changes the scales of others, so this goes on until all fit.
  void drop_unfit(std::vector<bool>& is_integer, std::vector<OpDecision>& decisions) const {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      const Scales scales = choose(is_integer);
      for (std::size_t op = 0; op < is_integer.size(); ++op) {
        if (!is_integer[op]) continue;
        std::string why =
            why_not_scales(prepared_.model(), candidates()[op], op, scales, largest_weight_scale(op, scales));
        if (why.empty()) continue;
        decisions[op].reason = std::move(why);
        is_integer[op] = false;
        is_changed = true;
      }
    }
  }
  double largest_weight_scale(std::size_t op, const Scales& scales) const {
    if (!candidates()[op].has_weight()) return 0;
    float largest = 0;
    for (const kernels::Affine& each : weights_of(op, scales).affine) largest = std::max(largest, each.scale);
    return largest;
  }

  OpWeights weights_of(std::size_t op, const Scales& scales) const {
    const OpInfo& row = *candidates()[op].row;
    const float input_scale = scales.of_input(prepared_.graph(), op, row.data).scale;
    return plan_weights(prepared_.model(), prepared_.graph().operators[op], row, prepared_.weights(),
                        input_scale, is_wide());
  }
  void correct(std::size_t at, OpWeights& weights) const {
    const Operator& op = prepared_.graph().operators[at];
    const OpInfo& row = *candidates()[at].row;
    if (row.code == Builtin::kTransposeConv) return;  // each output sees a part of the taps
    const auto input = static_cast<std::size_t>(op.inputs[row.data]);
    const calibration::Statistics& seen = ranges_.values.at(prepared_.flow().names[input]);
    std::vector<double> means;
    for (std::size_t c = 0; c < seen.channels().size(); ++c) means.push_back(seen.mean_of_channel(c));
    weights.shift = prepared_.weights().mean_errors(op, row, weights.affine, means);
  }

  const IntegerModel& prepared_;
  const calibration::Ranges& ranges_;
  const Recipe& recipe_;
};

std::string text_of(const ActivationQuantization& codes) {
  return fmt::format("{} scale {:.6g} zero {}", name_of(codes.type), codes.scale, codes.zero);
}

}  // namespace

IntegerModel::IntegerModel(std::shared_ptr<const Model> model, const Recipe& recipe, ThreadPool& pool)
    : model_(std::move(model)),
      flow_(*model_),
      candidates_(find_integer_candidates(*model_, flow_)),
      weights_(*model_, candidates_, recipe, pool) {}

std::string IntegerModel::name_of(std::size_t op) const {
  const Operator& each = graph().operators[op];
  for (const std::int32_t output : each.outputs) {
    if (output >= 0) return flow_.names[static_cast<std::size_t>(output)];
  }
  return fmt::format("operator {}", op);
}

std::string IntegerModel::label_of(std::size_t op) const {
  const std::string op_type = op_name(model_->operator_codes[graph().operators[op].opcode_index]);
  return fmt::format("{} '{}'", op_type, plain(name_of(op)));
}

bool IntegerPlan::is_wide() const {
  return std::any_of(scales.codes.begin(), scales.codes.end(),
                     [](const auto& codes) { return codes && codes->type == ElementType::kInt16; });
}

std::size_t IntegerPlan::integer_count() const {
  return static_cast<std::size_t>(
      std::count_if(ops.begin(), ops.end(), [](const OpDecision& op) { return op.is_integer(); }));
}

std::string IntegerPlan::text(const IntegerModel& prepared) const {
  std::string text;
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (!ops[op].is_integer() && ops[op].reason.empty()) continue;
    text += fmt::format("{}: {}{}\n", prepared.label_of(op), ops[op].is_integer() ? "int8" : "float",
                        ops[op].reason.empty() ? "" : ", " + ops[op].reason);
    for (const auto& [at, codes] : scales.requantized) {
      if (at.first == op) text += fmt::format("  input {} requantized: {}\n", at.second, text_of(codes));
    }
    for (const auto& [at, codes] : scales.numbers) {
      if (at.first == op) text += fmt::format("  constant {}: {}\n", at.second, text_of(codes));
    }
    const auto found = weights.find(op);
    if (found == weights.end()) continue;
    float largest = 0;
    for (const kernels::Affine& each : found->second.affine) largest = std::max(largest, each.scale);
    text += fmt::format("  weight: axis {}, {} scales up to {:.6g}, {} raised for the bias{}\n",
                        found->second.axis, found->second.affine.size(), largest, found->second.raised,
                        found->second.shift.empty() ? "" : ", bias corrected");
  }
  for (std::size_t t = 0; t < scales.codes.size(); ++t) {
    if (scales.codes[t])
      text += fmt::format("{}: {}\n", plain(prepared.flow().names[t]), text_of(*scales.codes[t]));
  }
  return text;
}

IntegerPlan make_integer_plan(const IntegerModel& prepared, const calibration::Ranges& ranges,
                              const Recipe& recipe) {
  return IntegerPlanner(prepared, ranges, recipe).make();
}

bool has_one_form(const IntegerModel& prepared, const IntegerPlan& plan, std::size_t tensor) {
  const Flow& flow = prepared.flow();
  if (flow.is_output[tensor] || flow.uses[tensor].empty()) return false;
  const OpWeights* first = nullptr;
  for (const Flow::Use& use : flow.uses[tensor]) {
    const auto found = plan.weights.find(use.op);
    if (found == plan.weights.end()) return false;
    const OpWeights& weights = found->second;
    const OpInfo& row = *prepared.candidates()[use.op].row;
    const bool is_weight = use.input == row.weight && weights.weight == tensor;
    const bool is_bias = use.input == row.bias && weights.bias == tensor;
    if (is_weight == is_bias) return false;
    if (first == nullptr) first = &weights;
    const bool is_same =
        is_weight
            ? std::equal(weights.affine.begin(), weights.affine.end(), first->affine.begin(),
                         first->affine.end(), [](const auto& a, const auto& b) { return a.scale == b.scale; })
            : weights.bias_scale == first->bias_scale && weights.shift == first->shift;
    if (!is_same) return false;
  }
  return true;
}

std::vector<bool> possible_integers(const IntegerModel& prepared, const calibration::Ranges& ranges,
                                    const Recipe& recipe, std::vector<OpDecision>& decisions) {
  return IntegerPlanner(prepared, ranges, recipe).possible(decisions);
}

std::vector<plan::Division> float_choices(const IntegerModel& prepared, const calibration::Ranges& ranges,
                                          const Recipe& recipe, const std::map<std::string, double>& noise) {
  IntegerPlanner planner(prepared, ranges, recipe);
  std::vector<OpDecision> decisions;
  Recipe without = recipe;  // operators in FP32 already have an infinite cost
  for (const auto& [name, of_op] : noise) without.nodes.erase(name);
  const std::vector<bool> is_integer = IntegerPlanner(prepared, ranges, without).possible(decisions);
  plan::Prices prices;
  for (std::size_t op = 0; op < is_integer.size(); ++op) {
    if (!is_integer[op]) continue;
    const auto found = noise.find(prepared.name_of(op));
    if (found != noise.end()) prices.emplace_back(op, found->second);
  }
  return float_divisions(prepared.model(), prepared.flow(), prepared.candidates(), is_integer, ranges, prices,
                         planner.uses_cost_model());
}

}  // namespace ounce::tflite
