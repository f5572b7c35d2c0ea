#include "formats/onnx/prepare/fold_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/edit/linear_op.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/op_rules.h"
#include "formats/onnx/qat/constant_subgraphs.h"

namespace ounce::passes {
namespace {

using graph::Use;

bool is_batch_norm(const onnx::Node& node) { return node.op() == Op::kBatchNormalization; }

// One output, and no attribute for training mode or separate normalization of each position.
bool is_inference(const onnx::Node& node, std::int64_t opset) {
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) return false;
  }
  const bool is_whole = !node.outputs.empty() && !node.outputs[0].empty();
  return is_whole && integer_setting(node, "training_mode", 0) == 0 &&
         integer_setting(node, "spatial", 1) == 1 && (opset >= 7 || integer_setting(node, "is_test", 0) == 1);
}

// The parameters of a normalization, in the order of inputs 1 to 4.
using Parameters = std::array<std::vector<float>, 4>;

std::variant<Parameters, Reason> read_parameters(const onnx::Model& model, const graph::Index& index,
                                                 const Use& norm, std::size_t channels) {
  Parameters parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto constant = find_constant(model, index, norm.body, input_of(index.node(norm), i + 1));
    if (!constant) return Reason{"its parameters are not all constants"};
    if (constant->tensor->type != ElementType::kFloat) return Reason{"its parameters are not float32"};
    if (constant->tensor->dims.size() != 1 || constant->tensor->element_count() != channels)
      return Reason{fmt::format("its parameters do not match {} channels", channels)};
    parameters[i] = floats_of(*constant->tensor);
  }
  return parameters;
}

std::variant<Affine, Reason> read_batch_norm(const onnx::Model& model, const graph::Index& index,
                                             const Use& norm, std::size_t channels) {
  const onnx::Node& node = index.node(norm);
  if (!is_inference(node, opset_of(model, index, norm.body)))
    return Reason{"it is not a per-channel normalization in inference mode"};
  const auto epsilon = float_setting(node, "epsilon", 1e-5F);
  if (!epsilon) return Reason{"its epsilon cannot be read"};
  auto read = read_parameters(model, index, norm, channels);
  if (auto* reason = std::get_if<Reason>(&read)) return std::move(*reason);
  const auto& [gamma, beta, mean, variance] = std::get<Parameters>(read);
  Affine affine;
  for (std::size_t c = 0; c < channels; ++c) {
    const double spread = double{variance[c]} + double{*epsilon};
    if (!(spread > 0)) return Reason{fmt::format("its variance of channel {} is not positive", c)};
    const double scale = gamma[c] / std::sqrt(spread);
    affine.scale.push_back(scale);
    affine.shift.push_back(beta[c] - mean[c] * scale);
    if (!std::isfinite(affine.scale[c]) || !std::isfinite(affine.shift[c]))
      return Reason{fmt::format("its parameters of channel {} are not finite", c)};
  }
  return affine;
}

// The normalization that uses this value, if any.
const Use* find_batch_norm(const graph::Index& index, const graph::Value& value) {
  for (const Use& use : value.uses) {
    if (use.input == 0 && is_batch_norm(index.node(use))) return &use;
  }
  return nullptr;
}

class BatchNormFolding : GraphRewrite {
 public:
  explicit BatchNormFolding(onnx::Model& model) : GraphRewrite(model), limit_(index_) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (is_linear_op(node)) fold_behind(body, position);
    });
  }

 private:
  // Consecutive normalizations after an op, merged into one.
  struct Chain {
    Affine affine;
    std::vector<Use> norms;
  };

  using GraphRewrite::leave;
  void leave(const Use& norm, const std::string& why) { leave(norm.body, norm.node, why); }

  void fold_behind(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    const Use* first = find_output_norm(body, node);
    if (first == nullptr) return;
    const auto op = read_linear_op(model_, index_, body, position);
    if (const auto* reason = std::get_if<Reason>(&op))
      return leave(first->body, first->node,
                   fmt::format("{} in front of it: {}", node.op_type(), reason->text));
    const auto& linear = std::get<LinearOp>(op);
    if (!limit_.take(linear.added_weight_bytes() + linear.bias_bytes()))
      return leave(*first, WorkLimit::kReason);
    const Chain chain = collect(linear, node.outputs[0]);
    if (chain.norms.empty()) return;
    const auto made = apply(linear, chain.affine);
    if (const auto* reason = std::get_if<Reason>(&made)) return leave(*first, reason->text);
    const Bytes output = index_.node(chain.norms.back()).outputs[0];
    put_parameters(editors_, index_, linear, std::get<NewParameters>(made), output);
    for (const Use& norm : chain.norms) editors_.of(norm.body).remove_node(norm.node);
    changes_.count += chain.norms.size();
  }

  const Use* find_output_norm(std::size_t body, const onnx::Node& node) const {
    if (node.outputs.empty() || node.outputs[0].empty()) return nullptr;
    return find_batch_norm(index_, *index_.find(body, node.outputs[0]).value);
  }

  Chain collect(const LinearOp& op, Bytes output) {
    Chain chain;
    chain.affine = {std::vector<double>(op.channels, 1), std::vector<double>(op.channels, 0)};
    while (true) {
      const graph::Value& value = *index_.find(op.body, output).value;
      const Use* norm = find_batch_norm(index_, value);
      if (norm == nullptr) return chain;
      if (value.is_output || value.uses.size() != 1 || norm->body != op.body) {
        leave(*norm, fmt::format("'{}' is used elsewhere too", output));
        return chain;
      }
      if (!limit_.take(4 * op.bias_bytes())) {
        leave(*norm, WorkLimit::kReason);
        return chain;
      }
      const auto affine = read_batch_norm(model_, index_, *norm, op.channels);
      if (const auto* reason = std::get_if<Reason>(&affine)) {
        leave(*norm, reason->text);
        return chain;
      }
      chain.affine.append(std::get<Affine>(affine));
      chain.norms.push_back(*norm);
      output = index_.node(*norm).outputs[0];
    }
  }

  WorkLimit limit_;
};

}  // namespace

Changes fold_batch_norm(onnx::Model& model) { return BatchNormFolding(model).run(); }

namespace {

using graph::Use;

// True if a constant of these dimensions has one value per channel (axis 1) of an output of this rank.
bool is_per_channel(const std::vector<std::int64_t>& dims, std::size_t rank, std::size_t channels) {
  if (dims.size() > rank) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::size_t axis = rank - dims.size() + i;
    const bool may_differ = axis == 1 && static_cast<std::size_t>(dims[i]) == channels;
    if (dims[i] != 1 && !may_differ) return false;
  }
  return true;
}

// An Add, and the constant on its other side.
struct Addition {
  Use add;
  Constant constant;
};

std::optional<Addition> find_addition(const onnx::Model& model, const graph::Index& index,
                                      const graph::Value& value) {
  for (const Use& use : value.uses) {
    const onnx::Node& node = index.node(use);
    const bool is_whole = node.inputs.size() == 2 && node.outputs.size() == 1 && !node.outputs[0].empty();
    if (node.op() != Op::kAdd || !is_whole) continue;
    const auto constant = find_constant(model, index, use.body, node.inputs[1 - use.input]);
    if (constant) return Addition{use, *constant};
  }
  return std::nullopt;
}

Affine offset_by(const std::vector<float>& values, std::size_t channels) {
  Affine affine{std::vector<double>(channels, 1), std::vector<double>(channels)};
  for (std::size_t c = 0; c < channels; ++c) affine.shift[c] = values[values.size() == 1 ? 0 : c];
  return affine;
}

class Biasing : GraphRewrite {
 public:
  explicit Biasing(onnx::Model& model) : GraphRewrite(model), limit_(index_) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      const bool has_output = !node.outputs.empty() && !node.outputs[0].empty();
      if (has_output && is_linear_op(node)) visit(body, position);
    });
  }

 private:
  void visit(std::size_t body, std::size_t position) {
    const Bytes output = index_.bodies()[body].nodes()[position]->outputs[0];
    const auto addition = find_addition(model_, index_, *index_.find(body, output).value);
    if (!addition) return;
    const Use& add = addition->add;
    const auto op = read_op(body, position, *addition);
    if (const auto* reason = std::get_if<Reason>(&op)) return leave(add.body, add.node, reason->text);
    const auto& linear = std::get<LinearOp>(op);
    const Affine affine = offset_by(floats_of(*addition->constant.tensor), linear.channels);
    put_parameters(editors_, index_, linear, {{}, new_bias(linear, affine)}, index_.node(add).outputs[0]);
    editors_.of(body).remove_node(add.node);
    ++changes_.count;
  }

  std::variant<LinearOp, Reason> read_op(std::size_t body, std::size_t position, const Addition& addition) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    const graph::Value& value = *index_.find(body, node.outputs[0]).value;
    if (value.is_output || value.uses.size() != 1 || addition.add.body != body)
      return Reason{fmt::format("'{}' is used elsewhere too", node.outputs[0])};
    // Before opset 7 an attribute controls broadcasting.
    if (!index_.node(addition.add).attributes.empty()) return Reason{"it has attributes"};
    auto op = read_linear_op(model_, index_, body, position);
    if (auto* reason = std::get_if<Reason>(&op))
      return Reason{fmt::format("{} in front of it: {}", node.op_type(), reason->text)};
    const auto& linear = std::get<LinearOp>(op);
    const onnx::Tensor& added = *addition.constant.tensor;
    if (added.type != ElementType::kFloat) return Reason{"its constant is not float32"};
    if (!is_per_channel(added.dims, linear.rank(), linear.channels))
      return Reason{"its constant is not one value per channel"};
    if (!limit_.take(linear.bias_bytes())) return Reason{WorkLimit::kReason};
    return op;
  }

  WorkLimit limit_;
};

}  // namespace

Changes add_bias(onnx::Model& model) { return Biasing(model).run(); }

namespace {

// The number of output channels; empty if the weight does not determine it.
std::optional<std::int64_t> channels_of(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                        const onnx::Node& node) {
  const auto weight = find_constant(model, index, body, input_of(node, kWeightInput));
  if (!weight || weight->tensor->dims.size() < 2) return std::nullopt;
  const bool is_first = node.op() == Op::kConv || integer_setting(node, "transB", 0) == 1;
  return weight->tensor->dims[is_first ? 0 : 1];
}

// The bias as one value per channel; empty if it has another form.
std::vector<float> spread(const onnx::Tensor& bias, std::int64_t channels, bool is_gemm) {
  const auto count = static_cast<std::int64_t>(bias.element_count());
  const auto& dims = bias.dims;
  const bool is_row = dims.empty() || dims.back() == count;  // all axes except the last one are 1
  if (bias.type != ElementType::kFloat || !is_row || dims.size() > 2) return {};
  if (count != channels && !(is_gemm && count == 1)) return {};
  std::vector<float> values = floats_of(bias);
  values.resize(static_cast<std::size_t>(channels), values.front());
  return values;
}

class Owning : GraphRewrite {
 public:
  explicit Owning(onnx::Model& model) : GraphRewrite(model), limit_(index_) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (node.op() == Op::kConv || node.op() == Op::kGemm) own(body, position, node);
    });
  }

 private:
  void own(std::size_t body, std::size_t position, const onnx::Node& node) {
    const auto bias = find_constant(model_, index_, body, input_of(node, kBiasInput));
    const auto channels = channels_of(model_, index_, body, node);
    if (!bias || !channels || *channels <= 0 || bias->tensor->element_count() == 0) return;
    const bool is_own =
        !bias->is_shared() && bias->tensor->dims.size() == 1 && bias->tensor->dims[0] == *channels;
    if (is_own || !limit_.take(static_cast<std::uint64_t>(*channels) * sizeof(float))) return;
    const std::vector<float> values = spread(*bias->tensor, *channels, node.op() == Op::kGemm);
    if (values.empty()) return;
    BodyEditor& editor = editors_.of(body);
    const Bytes name = editor.add_tensor(position, float_tensor({*channels}, values));
    editor.edit_node(position).inputs[kBiasInput] = name;
    ++changes_.count;
  }

  WorkLimit limit_;
};

}  // namespace

Changes unshare_biases(onnx::Model& model) { return Owning(model).run(); }

namespace {

bool is_wanted(const onnx::Node& node, std::size_t input) {
  const auto rule = node.info().weight(input);
  return (rule && *rule != ops::ChannelRule::kTableRow) || node.info().role(input) == ops::Role::kParameter;
}

class ConstantFolding : GraphRewrite {
 public:
  explicit ConstantFolding(onnx::Model& model) : GraphRewrite(model), reader_(model, index_) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      for (std::size_t input = 0; input < node.inputs.size(); ++input) {
        if (is_wanted(node, input) || may_be_bias(body, node, input)) fold(body, position, input);
      }
    });
  }

 private:
  // Exporters write the bias of a Conv as an Add of a reshaped vector; add_bias() folds it.
  bool may_be_bias(std::size_t body, const onnx::Node& node, std::size_t input) {
    if (node.op() != Op::kAdd || node.inputs.size() != 2) return false;
    const auto other = index_.find(body, node.inputs[1 - input]);
    if (other.value == nullptr || other.value->producer == graph::kNone) return false;
    const auto addend = index_.find(body, node.inputs[input]);
    const bool is_only_here = addend.value != nullptr && addend.value->uses.size() == 1;
    return is_only_here && is_linear_op(*index_.bodies()[other.body].nodes()[other.value->producer]) &&
           is_vector(addend.body, node.inputs[input]);
  }

  // One value per channel: all axes but one are 1.
  bool is_vector(std::size_t body, Bytes name) {
    const auto dims = reader_.dims(body, name);
    return dims && std::count_if(dims->begin(), dims->end(), [](std::int64_t dim) { return dim != 1; }) <= 1;
  }

  void fold(std::size_t body, std::size_t position, std::size_t input) {
    const Bytes name = index_.bodies()[body].nodes()[position]->inputs[input];
    const auto found = name.empty() ? graph::Index::Found{} : index_.find(body, name);
    const bool is_computed = found.value != nullptr && found.value->producer != graph::kNone;
    if (!is_computed || find_constant(model_, index_, body, name)) return;
    const auto made = made_.find(found.value);
    const Bytes constant = made != made_.end() ? made->second : make(body, position, found, name);
    if (constant.empty()) return;
    editors_.of(body).edit_node(position).inputs[input] = constant;
    ++changes_.count;
  }

  // True if the original constant has other users. Folding would then duplicate it.
  bool has_other_uses(std::size_t body, Bytes name) const {
    for (auto at = index_.find(body, name); at.value != nullptr && at.value->producer != graph::kNone;) {
      const onnx::Node& node = *index_.bodies()[at.body].nodes()[at.value->producer];
      if (node.inputs.empty() || node.inputs[0].empty()) return false;  // a Constant
      at = index_.find(at.body, node.inputs[0]);
      if (at.value != nullptr && (at.value->uses.size() > 1 || at.value->is_output)) return true;
    }
    return false;
  }

  // The name of the new constant; empty if it should not be created.
  Bytes make(std::size_t body, std::size_t position, const graph::Index::Found& found, Bytes name) {
    if (!reader_.dims(found.body, name) || has_other_uses(found.body, name)) return {};
    auto read = reader_.read(found.body, name);
    if (const auto* reason = std::get_if<Reason>(&read)) leave(body, position, reason->text);
    const auto* values = std::get_if<FrozenValues>(&read);
    if (values == nullptr || values->type() != ElementType::kFloat) return {};
    // The constant is added to the body of the old value, where all users can see it.
    return made_[found.value] =
               editors_.of(found.body)
                   .add_tensor(found.value->producer, float_tensor(values->dims(), values->all()));
  }

  FrozenReader reader_;
  std::map<const graph::Value*, Bytes> made_;
};

}  // namespace

Changes fold_constants(onnx::Model& model) { return ConstantFolding(model).run(); }

}  // namespace ounce::passes
