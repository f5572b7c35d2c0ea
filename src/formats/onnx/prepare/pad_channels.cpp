#include "formats/onnx/prepare/integer_rewrites.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::passes {
namespace {

using graph::kNone;

constexpr std::int64_t kBlock = 16, kFewest = 24;

std::int64_t padded(std::int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; }

// True if each output channel depends only on the same input channel, with equal parameters for all channels.
bool keeps_channels(const onnx::Node& node) {
  return node.info().channels != ops::Channels::kMixed && node.op() != Op::kPRelu && node.outputs.size() == 1;
}

struct ConvNode {
  std::size_t position = 0;
  Constant weight;
  std::optional<Constant> bias;
  bool is_depthwise = false;
};

// Values with the same channels.
struct ChannelSet {
  std::int64_t channels = 0;  // 0: unknown
  bool is_blocked = false, has_depthwise = false;

  void say(std::int64_t count) {
    is_blocked |= channels != 0 && channels != count;
    channels = count;
  }
  bool is_padded() const {
    return !is_blocked && has_depthwise && channels >= kFewest && channels % kBlock != 0;
  }
};

class Padding {
 public:
  Padding(onnx::Model& model, const graph::Index& index, std::size_t body, Editors& editors)
      : model_(model), index_(index), body_(body), editors_(editors) {}

  std::size_t run() {
    for (const auto& [name, value] : index_.bodies()[body_].values) number_of(name);
    const auto& nodes = index_.bodies()[body_].nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) join(i, *nodes[i]);
    sets_.resize(parents_.size());
    for (const std::size_t value : blocked_) sets_[find(value)].is_blocked = true;
    for (const ConvNode& conv : convs_) describe(conv);
    for (const auto& [name, value] : numbers_) {
      if (is_fixed(name)) sets_[find(value)].is_blocked = true;
    }
    for (const ConvNode& conv : convs_) pad(conv);
    forget_shapes();
    std::size_t count = 0;
    for (std::size_t i = 0; i < sets_.size(); ++i) count += find(i) == i && sets_[i].is_padded() ? 1U : 0U;
    return count;
  }

 private:
  std::size_t number_of(Bytes name) {
    const auto [found, is_new] = numbers_.try_emplace(name, parents_.size());
    if (is_new) parents_.push_back(found->second);
    return found->second;
  }
  std::size_t find(std::size_t value) {
    while (parents_[value] != value) value = parents_[value] = parents_[parents_[value]];
    return value;
  }
  void unite(Bytes a, Bytes b) { parents_[find(number_of(a))] = find(number_of(b)); }
  void block(const onnx::Node& node) {
    for (const Bytes name : node.inputs) blocked_.push_back(number_of(name));
    for (const Bytes name : node.outputs) blocked_.push_back(number_of(name));
  }

  // True for values that are constant or visible outside of this body.
  bool is_fixed(Bytes name) const {
    const auto& values = index_.bodies()[body_].values;
    const auto found = values.find(name);
    if (found == values.end()) return true;
    const graph::Value& value = found->second;
    const bool is_made =
        value.producer != kNone && index_.bodies()[body_].nodes()[value.producer]->op() != Op::kConstant;
    return !is_made || value.is_output ||
           std::any_of(value.uses.begin(), value.uses.end(),
                       [this](const graph::Use& use) { return use.body != body_; });
  }

  bool is_number(Bytes name) const {
    const auto constant = find_constant(model_, index_, body_, name);
    return constant && constant->tensor->element_count() == 1;
  }

  void join(std::size_t position, const onnx::Node& node) {
    for (const Bytes name : node.inputs) number_of(name);  // also those of enclosing bodies
    if (node.op() == Op::kConv) {
      const std::optional<ConvNode> conv = read(position, node);
      if (!conv) return block(node);
      if (conv->is_depthwise) unite(node.inputs[0], node.outputs[0]);
      convs_.push_back(*conv);
    } else if (keeps_channels(node)) {
      unite(node.inputs[0], node.outputs[0]);
    } else if ((node.op() == Op::kAdd || node.op() == Op::kMul) && node.outputs.size() == 1) {
      for (const Bytes input : node.inputs) {
        if (!is_number(input)) unite(input, node.outputs[0]);
      }
    } else if (node.op() != Op::kConstant) {
      block(node);
    }
  }

  std::optional<ConvNode> read(std::size_t position, const onnx::Node& node) const {
    const auto weight = find_constant(model_, index_, body_, input_of(node, 1));
    const auto bias = find_constant(model_, index_, body_, input_of(node, 2));
    const auto group = onnx::integer_setting(node, "group", 1);
    const auto is_ours = [](const std::optional<Constant>& constant) {
      return constant && constant->tensor->type == ElementType::kFloat && !constant->is_shared();
    };
    if (node.outputs.size() != 1 || !is_ours(weight) || !group || weight->tensor->dims.size() < 3)
      return std::nullopt;
    if (!input_of(node, 2).empty() && !is_ours(bias)) return std::nullopt;
    const auto& dims = weight->tensor->dims;
    const bool is_depthwise = *group > 1 && dims[0] == *group && dims[1] == 1;
    if ((*group != 1 && !is_depthwise) || dims[0] < 1 || dims[1] < 1) return std::nullopt;
    return ConvNode{position, *weight, bias, is_depthwise};
  }

  const onnx::Node& node_of(const ConvNode& conv) const {
    return *index_.bodies()[body_].nodes()[conv.position];
  }
  ChannelSet& set_of(Bytes name) { return sets_[find(number_of(name))]; }

  void describe(const ConvNode& conv) {
    const onnx::Node& node = node_of(conv);
    const auto& dims = conv.weight.tensor->dims;
    set_of(node.outputs[0]).say(dims[0]);
    set_of(node.inputs[0]).say(conv.is_depthwise ? dims[0] : dims[1]);
    if (conv.is_depthwise) set_of(node.outputs[0]).has_depthwise = true;
  }

  void pad(const ConvNode& conv) {
    const onnx::Node& node = node_of(conv);
    const onnx::Tensor& weight = *conv.weight.tensor;
    std::vector<std::int64_t> dims = weight.dims;
    if (set_of(node.outputs[0]).is_padded()) dims[0] = padded(dims[0]);
    if (!conv.is_depthwise && set_of(node.inputs[0]).is_padded()) dims[1] = padded(dims[1]);
    if (dims == weight.dims) return;
    BodyEditor& editor = editors_.of(body_);
    const std::vector<float> old = floats_of(weight);
    std::vector<float> made(count_of(dims));
    const std::size_t taps = old.size() / static_cast<std::size_t>(weight.dims[0] * weight.dims[1]);
    const std::size_t row = taps * static_cast<std::size_t>(weight.dims[1]);
    const std::size_t new_row = taps * static_cast<std::size_t>(dims[1]);
    for (std::size_t m = 0; m < static_cast<std::size_t>(weight.dims[0]); ++m)
      std::copy_n(&old[m * row], row, &made[m * new_row]);
    onnx::Node& edited = editor.edit_node(conv.position);
    edited.inputs[1] = editor.add_tensor(conv.position, float_tensor(dims, made));
    if (dims[0] == weight.dims[0]) return;
    if (conv.bias) {
      std::vector<float> bias = floats_of(*conv.bias->tensor);
      bias.resize(static_cast<std::size_t>(dims[0]));
      edited.inputs[2] = editor.add_tensor(conv.position, float_tensor({dims[0]}, bias));
    }
    if (!conv.is_depthwise) return;
    std::erase_if(edited.attributes, [](const auto& attribute) { return attribute->name == "group"; });
    edited.attributes.emplace_back(onnx::make_integer_attribute(model_, "group", dims[0]));
  }

  // Removes declared shapes, which are no longer valid.
  void forget_shapes() {
    const graph::Body& body = index_.bodies()[body_];
    std::unordered_set<Bytes> changed;
    for (const auto& [name, value] : body.values) {
      if (set_of(name).is_padded()) changed.insert(name);
    }
    if (changed.empty() || body.graph == nullptr) return;
    std::erase_if(editors_.of(body_).edit_graph().value_infos,
                  [&](const auto& info) { return changed.contains(info->name); });
  }

  onnx::Model& model_;
  const graph::Index& index_;
  std::size_t body_;
  Editors& editors_;
  std::unordered_map<Bytes, std::size_t> numbers_;
  std::vector<std::size_t> parents_, blocked_;
  std::vector<ConvNode> convs_;
  std::vector<ChannelSet> sets_;
};

}  // namespace

Changes pad_channels(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  for (std::size_t body = 0; body < index.bodies().size(); ++body) {
    if (index.bodies()[body].function == nullptr) changes.count += Padding(model, index, body, editors).run();
  }
  editors.finish();
  return changes;
}

}  // namespace ounce::passes
