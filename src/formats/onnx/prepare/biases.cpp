#include "formats/onnx/prepare/biases.h"

#include <fmt/format.h>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/edit/linear_op.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {
namespace {

using graph::Use;

// Does a constant of these dimensions give one value to each channel (axis 1) of an output of this rank?
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

class Biasing {
 public:
  explicit Biasing(onnx::Model& model)
      : model_(model), index_(model), limit_(index_), editors_(model, index_) {}

  Changes run() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      const bool has_output = !node.outputs.empty() && !node.outputs[0].empty();
      if (has_output && is_linear_op(node)) visit(body, position);
    });
    editors_.finish();
    return std::move(changes_);
  }

 private:
  void visit(std::size_t body, std::size_t position) {
    const Bytes output = index_.bodies()[body].nodes()[position]->outputs[0];
    const auto addition = find_addition(model_, index_, *index_.find(body, output).value);
    if (!addition) return;
    const Use& add = addition->add;
    const auto op = read_op(body, position, *addition);
    if (const auto* reason = std::get_if<Reason>(&op)) {
      changes_.left_alone.push_back(
          fmt::format("{}: {}", place_of(index_, add.body, add.node), reason->text));
      return;
    }
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
    // Before opset 7 an attribute says how to broadcast.
    if (!index_.node(addition.add).attributes.empty()) return Reason{"it has attributes"};
    auto op = read_linear_op(model_, index_, body, position);
    if (auto* reason = std::get_if<Reason>(&op))
      return Reason{fmt::format("{} in front of it: {}", node.op_type(), reason->text)};
    const auto& linear = std::get<LinearOp>(op);
    const onnx::Tensor& added = *addition.constant.tensor;
    if (added.type != ElementType::kFloat) return Reason{"its constant is not float32"};
    if (!is_per_channel(added.dims, linear.rank(), linear.channels))
      return Reason{"its constant is not one value a channel"};
    if (!limit_.take(linear.bias_bytes())) return Reason{WorkLimit::kReason};
    return op;
  }

  onnx::Model& model_;
  graph::Index index_;
  WorkLimit limit_;
  Editors editors_;
  Changes changes_;
};

}  // namespace

Changes add_bias(onnx::Model& model) { return Biasing(model).run(); }

namespace {

// How many channels the op gives; nothing where its weight does not say.
std::optional<std::int64_t> channels_of(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                        const onnx::Node& node) {
  const auto weight = find_constant(model, index, body, input_of(node, kWeightInput));
  if (!weight || weight->tensor->dims.size() < 2) return std::nullopt;
  const bool is_first = node.op() == Op::kConv || integer_setting(node, "transB", 0) == 1;
  return weight->tensor->dims[is_first ? 0 : 1];
}

// The bias as one value for each channel; empty when it is no such thing.
std::vector<float> spread(const onnx::Tensor& bias, std::int64_t channels, bool is_gemm) {
  const auto count = static_cast<std::int64_t>(bias.element_count());
  const auto& dims = bias.dims;
  const bool is_row = dims.empty() || dims.back() == count;  // all axes before the last one are 1
  if (bias.type != ElementType::kFloat || !is_row || dims.size() > 2) return {};
  if (count != channels && !(is_gemm && count == 1)) return {};
  std::vector<float> values = floats_of(bias);
  values.resize(static_cast<std::size_t>(channels), values.front());
  return values;
}

class Owning {
 public:
  explicit Owning(onnx::Model& model)
      : model_(model), index_(model), limit_(index_), editors_(model, index_) {}

  Changes run() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (node.op() == Op::kConv || node.op() == Op::kGemm) own(body, position, node);
    });
    editors_.finish();
    return std::move(changes_);
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

  onnx::Model& model_;
  graph::Index index_;
  WorkLimit limit_;
  Editors editors_;
  Changes changes_;
};

}  // namespace

Changes own_biases(onnx::Model& model) { return Owning(model).run(); }

}  // namespace ounce::passes
