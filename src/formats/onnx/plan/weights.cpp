#include "formats/onnx/plan/weights.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/text.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::plan {
namespace {

using graph::Index;
using graph::kNone;

// The use of a value.
struct Purpose {
  Role role = Role::kOther;
  std::optional<ChannelRule> rule;
  std::optional<ChannelAxes> channels;
  Op op = Op::kUnknown;
  std::string op_type;
};

Purpose purpose_of(const Index& index, const graph::Use& use, std::size_t rank, int& steps_left);

Purpose purpose_of(const Index& index, const graph::Value& value, std::size_t rank, int& steps_left) {
  Purpose strongest;
  for (const graph::Use& use : value.uses) {
    Purpose purpose = purpose_of(index, use, rank, steps_left);
    if (strongest.op_type.empty() || purpose.role > strongest.role) strongest = std::move(purpose);
    if (strongest.role == Role::kWeight) break;
  }
  return strongest;
}

// An Add after a MatMul, which has no bias of its own.
bool is_bias_of_matmul(const Index& index, const graph::Use& use, std::size_t rank) {
  const onnx::Node& node = index.node(use);
  if (node.op() != Op::kAdd || node.inputs.size() != 2 || rank != 1) return false;
  const auto other = index.find(use.body, node.inputs[1 - use.input]);
  if (other.value == nullptr || other.value->producer == kNone) return false;
  return index.bodies()[other.body].nodes()[other.value->producer]->op() == Op::kMatMul;
}

Purpose purpose_of(const Index& index, const graph::Use& use, std::size_t rank, int& steps_left) {
  const onnx::Node& node = index.node(use);
  const auto rule = node.info().weight(use.input);
  Purpose purpose;
  purpose.op = node.op();
  purpose.op_type = node.op_type();
  if (node.info().role(use.input) == ops::Role::kParameter || is_bias_of_matmul(index, use, rank))
    purpose.role = Role::kParameter;
  if (rule && rank >= 2) {
    purpose.rule = rule;
    purpose.channels = channel_axes(*rule, node, rank);
    purpose.role = node.info().moves_weight(use.input) ? Role::kTable : Role::kWeight;
  }
  if (!node.info().moves_weight(use.input) || node.outputs.empty() || steps_left-- <= 0) return purpose;
  const auto next = index.find(use.body, node.outputs[0]);
  if (next.value == nullptr) return purpose;
  // Only these ops change the rank, and only by one in front of a weight.
  const std::size_t next_rank = node.op() == Op::kUnsqueeze             ? rank + 1
                                : node.op() == Op::kSqueeze && rank > 0 ? rank - 1
                                                                        : rank;
  Purpose beyond = purpose_of(index, *next.value, next_rank, steps_left);
  if (beyond.role <= purpose.role) return purpose;
  if (beyond.channels) beyond.channels = axes_before(node, *beyond.channels, rank);
  return beyond;
}

void describe(const Index& index, Weight& weight) {
  const std::size_t rank = weight.dims.size();
  int steps_left = kLongestSearch;
  const Purpose purpose = purpose_of(index, *weight.value, rank, steps_left);
  weight.role = purpose.role;
  if (weight.fits_nbits() && rank < 2) weight.role = Role::kOther;
  weight.channels = purpose.channels;
  weight.op = purpose.op;
  weight.op_type = purpose.op_type;
  if (purpose.rule && weight.role == Role::kWeight)
    weight.kernel_taps = kernel_taps(*purpose.rule, weight.dims);
  weight.is_used = !weight.value->uses.empty();
  weight.is_output = weight.value->is_output;
  weight.is_looked_up = rank == 2 && weight.is_used && !weight.is_output;
  for (const graph::Use& use : weight.value->uses) {
    const onnx::Node& node = index.node(use);
    weight.is_looked_up &= is_row_lookup(node, use.input);
    weight.is_moved |= node.info().moves_weight(use.input);
    weight.feeds_quantized_op |= node.info().is_quantized_or_converts();
  }
}

}  // namespace

bool is_row_lookup(const onnx::Node& node, std::size_t input) {
  if (input != 0 || node.op() != Op::kGather) return false;
  const bool is_whole = node.inputs.size() == 2 && !node.inputs[1].empty() && node.outputs.size() == 1 &&
                        !node.outputs[0].empty();
  // An axis that a function takes from its caller has no value here.
  const bool has_axis = onnx::find_attribute(node, "axis") != nullptr;
  return is_whole && (!has_axis || onnx::integer_attribute(node, "axis") == 0);
}

std::uint64_t stored_bytes(const Decision& decision) {
  if (!decision.is_nbits()) return stored_bytes(static_cast<const TensorPlan&>(decision));
  const quant::BlockRows& rows = decision.rows;
  return rows.code_bytes(decision.bits()) + rows.groups() * (decision.format.half_scales ? 2U : 4U) +
         (decision.format.is_symmetric ? 0U : rows.zero_bytes(decision.bits()));
}

void shape_scales(Decision& decision) {
  const auto& dims = decision.weight.dims;
  const quant::Layout& layout = decision.layout;
  const auto size = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  decision.view = dims;
  decision.scale_dims = {};
  if (decision.granularity == GranularityKind::kChannel) {
    decision.scale_dims.assign(dims.size(), 1);
    for (std::size_t i = decision.weight.channels->first; i < decision.weight.channels->last; ++i)
      decision.scale_dims[i] = dims[i];
  } else if (decision.granularity == GranularityKind::kBlock && layout.has_contiguous_groups()) {
    decision.view = {size(layout.channels), size(layout.inner)};
    decision.scale_dims = {size(layout.channels), 1};
  } else if (decision.granularity == GranularityKind::kBlock) {
    decision.view = {size(layout.panels), size(layout.outer), size(layout.channels)};
    decision.scale_dims = {size(layout.panels), 1, size(layout.channels)};
  }
}

std::vector<Weight> find_weights(const Index& index) {
  std::vector<Weight> weights;
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const graph::Body& body = index.bodies()[id];
    const auto add = [&](Weight weight) {
      if (!is_float_weight_type(weight.tensor->type)) return;
      weight.graph = id;
      weight.type = weight.tensor->type;
      weight.dims = weight.tensor->dims;
      weight.value = &body.values.find(weight.name)->second;
      describe(index, weight);
      weights.push_back(std::move(weight));
    };
    if (body.graph != nullptr) {
      for (std::size_t i = 0; i < body.graph->initializers.size(); ++i) {
        const onnx::Tensor& tensor = *body.graph->initializers[i];
        Weight weight;
        weight.initializer = i;
        weight.name = tensor.name;
        weight.tensor = &tensor;
        add(std::move(weight));
      }
    }
    for (std::size_t i = 0; i < body.nodes().size(); ++i) {
      const onnx::Node& node = *body.nodes()[i];
      const onnx::Tensor* tensor = constant_tensor(node);
      if (tensor == nullptr || node.outputs.empty() || node.outputs[0].empty()) continue;
      Weight weight;
      weight.constant = i;
      weight.name = node.outputs[0];
      weight.tensor = tensor;
      add(std::move(weight));
    }
  }
  return weights;
}

NodeOverrides::NodeOverrides(const graph::Index& index, const Recipe& recipe)
    : is_integer_(recipe.is_integer()), otherwise_(recipe.storage_of_remainder()) {
  if (recipe.nodes.empty()) return;
  std::vector<const onnx::Node*> nodes;
  std::vector<NodeNames> names;
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    nodes.push_back(&node);
    names.push_back({graph::value_path(index, body, node.outputs[0]), node.name});
  });
  named_ = find_named_formats(recipe, names);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (named_.formats[i]) by_node_.emplace(nodes[i], *named_.formats[i]);
  }
}

void NodeOverrides::require_nodes() const {
  if (!named_.has_unknown) return;
  // For integer formats the model is prepared first, which folds nodes.
  const char* const folded =
      is_integer_ ? "; normalizations and constant sums are folded into the op in front of them, which "
                    "then gives their value"
                  : "";
  throw Error(ErrorCode::kUsage, fmt::format("`nodes` '{}': no node has this name or this output{}{}",
                                             named_.unknown, did_you_mean(named_.guess), folded));
}

void require_levels(const graph::Index& index, const Recipe& recipe) {
  const auto& levels = recipe.nbits.levels;
  if (levels.empty()) return;
  std::vector<std::string> products;
  std::map<std::string, std::string> others;  // value → op type
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    const std::string value = graph::value_path(index, body, node.outputs[0]);
    if (node.op() == Op::kMatMul || node.op() == Op::kGemm) {
      products.push_back(value);
    } else {
      others.emplace(value, node.op_type());
    }
  });
  for (const auto& [name, level] : levels) {
    if (std::find(products.begin(), products.end(), name) != products.end()) continue;
    const auto other = others.find(name);
    const std::string why =
        other == others.end()
            ? "no node has this output" + did_you_mean(nearest(name, products))
            : fmt::format("{} has this output, but levels apply only to MatMul and Gemm", other->second);
    throw Error(ErrorCode::kUsage, fmt::format("`nbits.levels` '{}': {}", name, why));
  }
}

std::optional<Format> NodeOverrides::of(const onnx::Node& node) const {
  const auto found = by_node_.find(&node);
  return found == by_node_.end() ? std::nullopt : std::optional(found->second);
}

bool NodeOverrides::wants_floats(const onnx::Node& node) const {
  const std::optional<Format> wanted = of(node);
  return wanted && is_storage(*wanted);
}

struct NodeOverrides::Tally {
  std::vector<Format> asked;
  bool has_others = false;  // nodes without an override
  int steps_left = kLongestSearch;
};

void NodeOverrides::ask_users(const graph::Index& index, const graph::Value& value, Tally& tally) const {
  for (const graph::Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    if (const auto wanted = of(node); wanted && is_storage(*wanted)) {
      tally.asked.push_back(*wanted);
      continue;
    }
    // A table for row lookups is a weight of that op; slices cut out of it are not.
    const bool is_table = node.info().weight(use.input) && node.op() != Op::kSlice;
    const bool is_moved = node.info().moves_weight(use.input) && !is_table;
    const graph::Value* next = is_moved && !node.outputs.empty() && tally.steps_left-- > 0
                                   ? index.find(use.body, node.outputs[0]).value
                                   : nullptr;
    if (next == nullptr || next->uses.empty()) {
      tally.has_others = true;
    } else {
      ask_users(index, *next, tally);
    }
  }
}

std::optional<StorageOverride> NodeOverrides::storage(const graph::Index& index, const Weight& weight) const {
  if (by_node_.empty()) return std::nullopt;
  Tally tally;
  ask_users(index, *weight.value, tally);
  return strongest_wish(tally.asked, tally.has_others, otherwise_);
}

Selection::Texts texts_of(const graph::Index& index, const Weight& weight) {
  Selection::Texts texts = {weight.name, weight.op_type};
  for (const graph::Use& use : weight.value->uses) {
    const onnx::Node& node = index.node(use);
    texts.insert(texts.end(), {node.name, node.op_type()});
  }
  return texts;
}

Selection::Texts texts_of(const onnx::Node& node) {
  Selection::Texts texts = {node.name, node.op_type()};
  texts.insert(texts.end(), node.outputs.begin(), node.outputs.end());
  return texts;
}

}  // namespace ounce::plan
