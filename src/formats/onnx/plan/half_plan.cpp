#include "formats/onnx/plan/half_plan.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/thread_pool.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/ports.h"
#include "formats/onnx/plan/half_flow.h"
#include "formats/onnx/plan/half_tensors.h"
#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/integer_plan.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/plan/weights.h"
#include "recipe/format_info.h"

namespace ounce::plan {
namespace {

using graph::kNone;
using graph::Value;
using onnx::Bytes;
using onnx::OpSchema;

// Sums of several masks must not overflow.
constexpr float kMasksAdded = 8;
constexpr int kMostRounds = 16;
const char* const kOnIntegers = "runs in INT8";
const char* const kOfIntegers = "computes a quantization scale";

bool is_bfloat(const Recipe& recipe) { return info_of(recipe.format).arithmetic == Arithmetic::kBfloat16; }

class HalfPlanner {
 public:
  HalfPlanner(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
              const Recipe& recipe, const calibration::Ranges* ranges, std::vector<Decision>& decisions)
      : model_(model),
        index_(index),
        types_(types),
        recipe_(recipe),
        decisions_(decisions),
        schemas_(model, index),
        functions_(index),
        selection_("`half.keep`", recipe.half.keep, "node that takes or gives float32",
                   recipe.ignore_unmatched),
        overrides_(index, recipe),
        ports_(index),
        flow_(model, index, types, is_bfloat(recipe) ? HalfRange::kWide : HalfRange::kNarrow, ranges) {
    plan_.type = is_bfloat(recipe) ? ElementType::kBfloat16 : ElementType::kFloat16;
    for (std::size_t id = 0; id < index.bodies().size(); ++id) {
      const graph::Body& body = index.bodies()[id];
      if (body.parent != kNone) bodies_[{body.parent, body.owner}].push_back(id);
    }
  }

  HalfPlan make(ThreadPool& pool) {
    overrides_.require_nodes();
    find_floats();
    read_constants(pool);
    follow_numbers();
    decide_ports();
    decide_nodes();
    plan_.unmatched = selection_.unmatched(plan_.notes);
    follow_types();
    decide_tensors();
    let_casts_be();
    note_limits();
    return std::move(plan_);
  }

 private:
  bool is_float(std::size_t body, Bytes name) const {
    return !name.empty() && types_.type(body, name) == ElementType::kFloat;
  }
  const Value* find(std::size_t body, Bytes name) const { return index_.find(body, name).value; }
  bool is_half(std::size_t body, Bytes name) const { return plan_.halves.contains(find(body, name)); }

  void find_floats() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      for (const auto& [name, value] : index_.bodies()[body].values) {
        if (is_float(body, name)) plan_.floats.insert(&value);
      }
    }
  }

  // Checks which constants fit 16 bits.
  void read_constants(ThreadPool& pool) {
    tensors_.resize(decisions_.size());
    run_jobs(
        pool, decisions_.size(), [&](std::size_t i) { return decisions_[i].weight.bytes(); },
        [&](std::size_t i, const ForEach& for_each) {
          if (decisions_[i].weight.type == ElementType::kFloat)
            tensors_[i] = read_half_tensor(model_, index_, plan_.type, decisions_[i], for_each);
        });
    graph::for_each_node(index_, [&](std::size_t body, std::size_t, const onnx::Node& node) {
      const onnx::Tensor* fill = fill_of(node);
      if (fill == nullptr || fill->type != ElementType::kFloat || node.outputs.empty()) return;
      Decision decision;
      decision.place.tensor = fill;
      decision.weight.type = fill->type;
      decision.weight.dims = fill->dims;
      decision.weight.name = node.outputs[0];
      decision.place.value = find(body, node.outputs[0]);
      const auto run_here = [](std::size_t steps, const std::function<void(std::size_t)>& run) {
        for (std::size_t i = 0; i < steps; ++i) run(i);
      };
      fills_.emplace_back(decision.place.value, node.outputs[0],
                          read_half_tensor(model_, index_, plan_.type, decision, run_here));
    });
  }

  // The fill value of a ConstantOfShape.
  static const onnx::Tensor* fill_of(const onnx::Node& node) {
    if (node.op() != Op::kConstantOfShape) return nullptr;
    const onnx::Attribute* value = onnx::find_attribute(node, "value");
    const bool is_number =
        value != nullptr && value->tensors.size() == 1 && value->tensors[0]->element_count() == 1;
    return is_number ? &*value->tensors[0] : nullptr;
  }

  void follow_numbers() {
    flow_.run();  // without constants first, to find the masks
    for (std::size_t i = 0; i < decisions_.size(); ++i)
      add_constant(decisions_[i].place.value, decisions_[i].weight.name, tensors_[i]);
    for (const auto& [value, name, tensor] : fills_) add_constant(value, name, tensor);
    flow_.add_observed(masks_);
    flow_.run();
  }

  void add_constant(const Value* value, Bytes name, const HalfTensor& tensor) {
    if (tensor.fit == HalfFit::kOverflows) {
      const std::optional<float> limit = limit_for(value, tensor.worst > 0);
      if (limit) {
        plan_.limits[value] = *limit;
        limit_notes_[value] =
            fmt::format("'{}' is {:g} instead of {:g}, which exceeds the 16-bit range: {}", name,
                        std::copysign(*limit, tensor.worst), tensor.worst,
                        *limit != largest()
                            ? "as a mask before Softmax it has the same effect, unless it masks a whole row"
                            : "as a limit it has the same effect");
        return;
      }
    }
    flow_.add_constant(value, name, tensor);
  }

  // The smaller value that can replace this constant without effect: a limit beyond all values, or a mask,
  // which only needs to be far below all scores.
  std::optional<float> limit_for(const Value* value, bool is_above) {
    if (value->is_output || value->is_input || value->uses.empty()) return std::nullopt;
    const bool is_limit = std::all_of(value->uses.begin(), value->uses.end(), [&](const graph::Use& use) {
      const onnx::Node& node = index_.node(use);
      return is_above ? node.op() == Op::kMin || (node.op() == Op::kClip && use.input == 2)
                      : node.op() == Op::kMax || (node.op() == Op::kClip && use.input == 1);
    });
    if (is_limit) return largest();
    const auto mask = flow_.mask_of(value);
    if (!mask) return std::nullopt;
    masks_.insert(mask->begin(), mask->end());
    return largest() / kMasksAdded;
  }

  float largest() const { return plan_.type == ElementType::kFloat16 ? kLargestHalf : kLargestBfloat; }

  // A class of connected values is 16-bit unless one of its values needs more.
  void decide_ports() {
    std::set<std::size_t> stays;
    for (const auto& [value, at] : ports_.members()) {
      const bool wants_float = (flow_.kinds(value) & HalfFlow::kTrouble) != 0;
      if (!plan_.floats.contains(value) || wants_float) stays.insert(ports_.class_of(at));
    }
    for (const auto& [slot, at] : ports_.slots()) {
      if ((flow_.kinds(find(slot.first, slot.second)) & HalfFlow::kTrouble) != 0 ||
          !is_float(slot.first, slot.second))
        stays.insert(ports_.class_of(at));
    }
    for (const auto& [value, at] : ports_.members()) {
      if (!stays.contains(ports_.class_of(at))) plan_.halves.insert(value);
    }
    for (const auto& [slot, at] : ports_.slots()) {
      if (!stays.contains(ports_.class_of(at))) plan_.half_outputs.insert(slot);
    }
    if (!recipe_.half.half_io) return;
    for (const auto& input : index_.main().graph->inputs) {
      const Value* value = find(0, input->name);
      const bool wants_float = (flow_.kinds(value) & HalfFlow::kTrouble) != 0;
      if (is_float(0, input->name) && value->initializer == kNone && !wants_float) {
        plan_.halves.insert(value);
        add_port(input->name, true);
      }
    }
    for (const auto& output : index_.main().graph->outputs) {
      const bool wants_float = (flow_.kinds(find(0, output->name)) & HalfFlow::kTrouble) != 0;
      const bool is_constant = find(0, output->name)->initializer != kNone;
      if (is_float(0, output->name) && !wants_float && !is_constant) {
        plan_.half_outputs.emplace(0, output->name);
        add_port(output->name, false);
      }
    }
  }

  void add_port(Bytes name, bool is_input) {
    IntegerPort port;
    port.value = {0, name};
    port.is_input = is_input;
    port.type = plan_.type;
    port.scales = {1};
    port.zeros = {0};
    plan_.ports.push_back(std::move(port));
  }

  void decide_nodes() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      const auto is_any = [&](const std::vector<Bytes>& names) {
        return std::any_of(names.begin(), names.end(), [&](Bytes name) { return is_float(body, name); });
      };
      if (!is_any(node.inputs) && !is_any(node.outputs)) return;
      if (constant_tensor(node) != nullptr) return;  // decided as a tensor
      HalfNode half{
          body, position, std::vector<bool>(node.inputs.size()), std::vector<bool>(node.outputs.size()), {}};
      if (is_structural(node)) {
        follow_ports(half, node);
        const auto is_none = [](const std::vector<bool>& chosen) {
          return std::find(chosen.begin(), chosen.end(), true) == chosen.end();
        };
        if (is_none(half.inputs) && is_none(half.outputs))
          half.why_float = "its inputs and outputs are kept in FP32";
      } else {
        half.why_float = why_float(body, node);
        if (half.is_half()) choose_types(half, node);
      }
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (half.outputs[i]) plan_.halves.insert(find(body, node.outputs[i]));
      }
      half.is_of_integers = half.why_float == kOnIntegers || half.why_float == kOfIntegers;
      plan_.nodes.push_back(std::move(half));
    });
  }

  // Nodes with bodies, and function calls: the body determines the types of their inputs and outputs.
  bool is_structural(const onnx::Node& node) const {
    const bool has_body = node.op() == Op::kIf || node.op() == Op::kLoop || node.op() == Op::kScan;
    return has_body || functions_.called_by(node) != kNone;
  }

  void follow_ports(HalfNode& half, const onnx::Node& node) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      half.outputs[i] = !node.outputs[i].empty() && is_half(half.body, node.outputs[i]);
    const auto enter = [&](std::size_t input, std::size_t body, Bytes formal) {
      if (input < node.inputs.size() && is_float(half.body, node.inputs[input]))
        half.inputs[input] = is_half(body, formal);
    };
    if (const std::size_t id = functions_.called_by(node); id != kNone) {
      const auto& formals = index_.bodies()[id].function->inputs;
      for (std::size_t i = 0; i < formals.size(); ++i) enter(i, id, formals[i]);
      return;
    }
    if (node.op() == Op::kIf) return;
    for (const std::size_t id : bodies_[{half.body, half.position}]) {
      const auto& formals = index_.bodies()[id].graph->inputs;
      const std::size_t before = node.op() == Op::kScan && node.inputs.size() > formals.size()
                                     ? node.inputs.size() - formals.size()
                                     : 0;
      for (std::size_t i = 0; i < formals.size(); ++i) enter(before + i, id, formals[i]->name);
    }
  }

  std::string why_float(std::size_t body, const onnx::Node& node) {
    if (std::string asked = selection_.why_not(texts_of(node)); !asked.empty()) {
      asked_.insert(&node);
      return asked;
    }
    if (overrides_.wants_floats(node)) {
      asked_.insert(&node);
      return "kept in FP32 by the recipe";
    }
    const OpSchema* schema = schemas_.of(body, node);
    if (schema == nullptr) return fmt::format("unknown op {}", node.op_type());
    if (node.info().is_quantized_or_converts() || is_between_codes(index_, body, node)) return kOnIntegers;
    if (makes_scale(index_, body, node)) return kOfIntegers;
    if (has_sequence(*schema)) return "sequences and maps keep their types";
    if (const auto why = half_rule(node).why_fp32; !why.empty()) return std::string(why);
    if (is_scattered_sum(node)) return "ONNX Runtime has no 16-bit kernel for scatter with a reduction";
    const float epsilon = epsilon_of(node);
    if (plan_.type == ElementType::kFloat16 && epsilon > 0 && epsilon < kSmallestHalf)
      return fmt::format("its epsilon {:g} vanishes in FP16", epsilon);
    for (const auto* names : {&node.inputs, &node.outputs}) {
      for (const Bytes name : *names) {
        if (!name.empty() && types_.type(body, name) == ElementType::kUndefined &&
            shares_type(*schema, node, name, plan_.type))
          return fmt::format("the type of '{}' is not known", name);
      }
    }
    return flow_.why_float(body, node);
  }

  void choose_types(HalfNode& half, const onnx::Node& node) {
    if (node.op() == Op::kCast || fill_of(node) != nullptr) {
      const std::optional<char> letter = schemas_.of(half.body, node)->output(0);
      if (is_float(half.body, node.outputs[0]))
        half.outputs[0] = letter && schemas_.of(half.body, node)->allows(*letter, plan_.type);
      return;
    }
    const OpSchema& schema = *schemas_.of(half.body, node);
    std::set<char> bound;  // type variables determined by the inputs
    std::set<char> fixed;  // type variables that must not change, because of such an input
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<char> letter = schema.input(i);
      if (!letter || !is_float(half.body, node.inputs[i])) continue;
      bound.insert(*letter);
      if (node.info().role(i) == ops::Role::kSetting || !schema.allows(*letter, plan_.type))
        fixed.insert(*letter);
    }
    bool is_any = false;
    const auto choose = [&](const std::vector<Bytes>& names, std::vector<bool>& chosen, auto letter_of) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::optional<char> letter = letter_of(i);
        if (!letter || !is_float(half.body, names[i]) || !OpSchema::is_variable(*letter)) continue;
        chosen[i] = bound.contains(*letter) && !fixed.contains(*letter);
        is_any = is_any || chosen[i];
      }
    };
    choose(node.inputs, half.inputs, [&](std::size_t i) { return schema.input(i); });
    choose(node.outputs, half.outputs, [&](std::size_t i) { return schema.output(i); });
    if (!is_any) half.why_float = why_no_type(schema, plan_.type);
  }

  // Ops that only move or read values take them in FP32 if they are FP32: a Cast in front would be useless.
  void follow_types() {
    bool is_changed = true;
    for (int round = 0; is_changed && round < kMostRounds;
         ++round) {  // two rounds suffice unless nodes are in reverse order
      is_changed = false;
      for (HalfNode& half : plan_.nodes) {
        const onnx::Node& node = *index_.bodies()[half.body].nodes()[half.position];
        if (!half.is_half() || is_structural(node) || node.outputs.empty()) continue;
        if (node.op() == Op::kCast) continue;
        const bool gives_float = std::any_of(node.outputs.begin(), node.outputs.end(),
                                             [&](Bytes name) { return is_float(half.body, name); });
        if (gives_float && !node.info().moves_weight(0)) continue;
        if (!takes_float(half, node, gives_float)) continue;
        half.why_float =
            gives_float ? "moves a value that is kept in FP32" : "reads a value that is kept in FP32";
        half.inputs.assign(half.inputs.size(), false);
        half.outputs.assign(half.outputs.size(), false);
        for (const Bytes name : node.outputs) plan_.halves.erase(find(half.body, name));
        is_changed = gives_float || is_changed;
      }
    }
  }

  // True if an input is FP32 and will not change. For ops that only read, inputs of the model count.
  bool takes_float(const HalfNode& half, const onnx::Node& node, bool gives_float) const {
    for (const Bytes name : node.inputs) {
      if (!is_float(half.body, name) || is_half(half.body, name)) continue;
      const auto [value, home] = index_.find(half.body, name);
      if (value->initializer != kNone) continue;
      const bool is_given = value->producer == kNone;
      const bool is_constant =
          !is_given && constant_tensor(*index_.bodies()[home].nodes()[value->producer]) != nullptr;
      if (is_constant || (is_given && gives_float)) continue;
      return true;
    }
    return false;
  }

  // Adds a note for each constant that was clipped.
  void note_limits() {
    for (const Decision& decision : decisions_) {
      if (!decision.is_stored()) limit_notes_.erase(decision.place.value);
    }
    for (const auto& [value, note] : limit_notes_) plan_.notes.push_back(note);
    std::sort(plan_.notes.begin(), plan_.notes.end());
  }

  // Casts accept any input type.
  void let_casts_be() {
    for (HalfNode& half : plan_.nodes) {
      const onnx::Node& node = *index_.bodies()[half.body].nodes()[half.position];
      if (half.is_half() && node.op() == Op::kCast && !node.inputs.empty())
        half.inputs[0] = is_float(half.body, node.inputs[0]) && is_half(half.body, node.inputs[0]);
    }
  }

  void decide_tensors() {
    std::map<std::pair<std::size_t, std::size_t>, const HalfNode*> nodes;
    for (const HalfNode& half : plan_.nodes) nodes[{half.body, half.position}] = &half;
    for (std::size_t i = 0; i < decisions_.size(); ++i) {
      Decision& decision = decisions_[i];
      decision.reason = why_keep(decision, tensors_[i], nodes);
      if (!decision.reason.empty()) continue;
      const model::WeightSite& weight = decision.weight;
      decision.encoding = plan_.type == ElementType::kBfloat16 ? Encoding::kBfloat16 : Encoding::kFloat16;
      decision.decoder = Decoder::kKernel;
      if (tensors_[i].is_broken) {
        throw Error(
            ErrorCode::kBadInput,
            "a weight has NaN or infinite values; repair the model, or leave its node out with `half.keep`",
            fmt::format("tensor '{}'", decision.weight.name));
      }
      const auto limit = plan_.limits.find(decision.place.value);
      if (limit != plan_.limits.end()) decision.limit = limit->second;
      decision.stored_bytes = stored_bytes(decision);
      decision.reason = fmt::format("{} of {}",
                                    weight.role == Role::kParameter ? "parameter"
                                    : weight.fits_nbits()           ? "weight"
                                                                    : "constant",
                                    weight.op_type);
      plan_.halves.insert(decision.place.value);
    }
  }

  std::string why_keep(const Decision& decision, const HalfTensor& tensor,
                       const std::map<std::pair<std::size_t, std::size_t>, const HalfNode*>& nodes) const {
    const model::WeightSite& weight = decision.weight;
    const Value& value = *decision.place.value;
    if (weight.is_half()) return "already has 16 bits";
    if (weight.type != ElementType::kFloat) return "is of type double, which is kept";
    if (value.uses.empty()) return "is unused";
    if (value.is_output) return "is an output of the graph";
    if (value.is_input && model_.proto->ir_version >= 4)
      return "is an input with a default value, which `keep_inputs=true` keeps";
    if (tensor.fit != HalfFit::kFits && !plan_.limits.contains(&value))
      return fmt::format("{:g} is too {} for 16-bit floats", tensor.worst,
                         tensor.fit == HalfFit::kOverflows ? "large" : "small");
    const auto limit = plan_.limits.find(&value);
    bool is_taken = limit != plan_.limits.end() && limit->second != largest();  // its users get the new value
    // A limit of FP32 values does not change. For 16-bit users a Cast makes it infinite, which also means no
    // limit.
    if (limit != plan_.limits.end() && !is_taken) {
      for (const graph::Use& use : value.uses) {
        const auto found = nodes.find({use.body, use.node});
        if (found == nodes.end() || !found->second->is_half()) return "is a limit of FP32 values";
      }
    }
    for (const graph::Use& use : value.uses) {
      const auto found = nodes.find({use.body, use.node});
      if (found == nodes.end()) continue;
      is_taken = is_taken || (use.input < found->second->inputs.size() && found->second->inputs[use.input]);
      if (asked_.contains(&index_.node(use))) return "its node is kept in FP32 by the recipe";
    }
    // A weight of an FP32 node is stored in 16 bits and cast back if that saves memory.
    if (is_taken) return {};
    const bool is_table = weight.role != Role::kOther || weight.dims.size() >= 2;
    const bool is_worth = is_table && weight.bytes() >= recipe_.min_bytes;
    if (weight.feeds_quantized_op) return "belongs to an op that is already quantized";
    return is_worth ? "" : "its node is kept in FP32";
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  const graph::ElementTypes& types_;
  const Recipe& recipe_;
  std::vector<Decision>& decisions_;
  graph::Schemas schemas_;
  graph::Functions functions_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> bodies_;  // by node
  Selection selection_;
  NodeOverrides overrides_;
  PortClasses ports_;
  HalfFlow flow_;
  std::vector<HalfTensor> tensors_;  // by decision
  std::vector<std::tuple<const Value*, Bytes, HalfTensor>> fills_;
  std::map<const Value*, std::string> limit_notes_;
  std::unordered_set<const Value*> masks_;  // computed from clipped constants
  std::set<const onnx::Node*> asked_;       // kept in FP32 by the recipe
  HalfPlan plan_;
};

}  // namespace

std::string HalfPlan::text(const graph::Index& index) const {
  std::string text;
  for (const HalfNode& half : nodes) {
    const onnx::Node& node = *index.bodies()[half.body].nodes()[half.position];
    const Bytes output = node.outputs.empty() ? Bytes() : node.outputs[0];
    text +=
        fmt::format("{} {} -> {}{}{}\n", node.op_type(), graph::value_path(index, half.body, output),
                    half.is_half() ? name_of(type) : "float32", half.is_half() ? "" : ": ", half.why_float);
  }
  return text;
}

HalfPlan make_half_plan(const onnx::Model& model, const graph::Index& index, const graph::ElementTypes& types,
                        const Recipe& recipe, const calibration::Ranges* ranges,
                        std::vector<Decision>& decisions, ThreadPool& pool) {
  return HalfPlanner(model, index, types, recipe, ranges, decisions).make(pool);
}

}  // namespace ounce::plan
