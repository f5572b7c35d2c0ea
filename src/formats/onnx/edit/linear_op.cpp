#include "formats/onnx/edit/linear_op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/onnx/file/attributes.h"

namespace ounce::passes {
namespace {

using Dims = std::vector<std::int64_t>;

// Compute the channels of a weight with these dimensions; return false if they do not match the node.

bool lay_out_conv(const onnx::Node&, const Dims& dims, LinearOp& op) {
  if (dims.size() < 3) return false;
  op.channels = static_cast<std::size_t>(dims[0]);
  op.inner = count_of({dims.begin() + 1, dims.end()});
  return true;
}

bool lay_out_conv_transpose(const onnx::Node& node, const Dims& dims, LinearOp& op) {
  const auto groups = integer_setting(node, "group", 1);
  if (dims.size() < 3 || !groups || *groups < 1 || dims[0] % *groups != 0) return false;
  op.inner = count_of({dims.begin() + 2, dims.end()});
  op.per_group = static_cast<std::size_t>(dims[1]);
  op.rows_per_group = static_cast<std::size_t>(dims[0] / *groups);
  op.channels = op.per_group * static_cast<std::size_t>(*groups);
  return true;
}

bool lay_out_gemm(const onnx::Node& node, const Dims& dims, LinearOp& op) {
  const auto is_transposed = integer_setting(node, "transB", 0);
  const auto beta = float_setting(node, "beta", 1);
  if (dims.size() != 2 || !is_transposed || !beta) return false;
  op.beta = *beta;
  const auto rows = static_cast<std::size_t>(dims[0]), columns = static_cast<std::size_t>(dims[1]);
  if (*is_transposed != 0) {
    op.channels = rows;
    op.inner = columns;
  } else {
    op.channels = op.per_group = columns;
    op.rows_per_group = rows;
  }
  return true;
}

struct Kind {
  Op op;
  bool (*lay_out)(const onnx::Node&, const Dims&, LinearOp&);
};
constexpr std::array<Kind, 3> kKinds{{
    {Op::kConv, lay_out_conv},
    {Op::kConvTranspose, lay_out_conv_transpose},
    {Op::kGemm, lay_out_gemm},
}};

const Kind* find_kind(const onnx::Node& node) {
  for (const Kind& kind : kKinds) {
    if (node.op() == kind.op) return &kind;
  }
  return nullptr;
}

// One value per channel, or a single one.
bool is_row(const onnx::Tensor& tensor, std::size_t channels) {
  if (tensor.element_count() == 1) return tensor.dims.size() <= 2;
  return tensor.element_count() == channels && tensor.dims.size() <= 2 &&
         static_cast<std::size_t>(tensor.dims.back()) == channels;
}

}  // namespace

void Affine::append(const Affine& next) {
  for (std::size_t c = 0; c < scale.size(); ++c) {
    scale[c] *= next.scale[c];
    shift[c] = next.scale[c] * shift[c] + next.shift[c];
  }
}

std::uint64_t LinearOp::added_weight_bytes() const {
  return weight.is_shared() || weight.body != body ? weight.tensor->byte_count() : 0;
}

bool is_linear_op(const onnx::Node& node) { return find_kind(node) != nullptr; }

std::variant<LinearOp, Reason> read_linear_op(const onnx::Model& model, const graph::Index& index,
                                              std::size_t body, std::size_t position) {
  const onnx::Node& node = *index.bodies()[body].nodes()[position];
  const auto weight = find_constant(model, index, body, input_of(node, kWeightInput));
  const Bytes bias_name = input_of(node, kBiasInput);
  if (!weight) return Reason{"its weight is not a constant"};
  LinearOp op;
  op.body = body;
  op.position = position;
  op.weight = *weight;
  op.bias = find_constant(model, index, body, bias_name);
  if (!op.bias && !bias_name.empty()) return Reason{"its bias is not a constant"};
  const onnx::Tensor& tensor = *weight->tensor;
  if (tensor.type != ElementType::kFloat || (op.bias && op.bias->tensor->type != tensor.type))
    return Reason{"its weight or bias is not float32"};
  if (!find_kind(node)->lay_out(node, tensor.dims, op) || tensor.element_count() == 0)
    return Reason{"its attributes and the shape of its weight do not determine its channels"};
  if (op.bias && !is_row(*op.bias->tensor, op.channels))
    return Reason{"its bias is not one value per channel"};
  return op;
}

std::vector<float> new_bias(const LinearOp& op, const Affine& affine) {
  const std::vector<float> old = op.bias ? floats_of(*op.bias->tensor) : std::vector<float>{0};
  std::vector<float> made(op.channels);
  for (std::size_t c = 0; c < op.channels; ++c) {
    const double bias = op.beta * old[old.size() == 1 ? 0 : c];
    made[c] = static_cast<float>(affine.scale[c] * bias + affine.shift[c]);
  }
  return made;
}

std::variant<NewParameters, Reason> apply(const LinearOp& op, const Affine& affine) {
  NewParameters made{floats_of(*op.weight.tensor), new_bias(op, affine)};
  for (std::size_t i = 0; i < made.weight.size(); ++i) {
    const std::size_t row = i / op.inner;
    const std::size_t channel = row / op.per_group / op.rows_per_group * op.per_group + row % op.per_group;
    made.weight[i] = static_cast<float>(made.weight[i] * affine.scale[channel]);
  }
  if (!are_finite(made.weight) || !are_finite(made.bias))
    return Reason{"the new weight or bias would not be finite"};
  return made;
}

void put_parameters(Editors& editors, const graph::Index& index, const LinearOp& op,
                    const NewParameters& parameters, Bytes output) {
  BodyEditor& editor = editors.of(op.body);
  const onnx::Node& old = *index.bodies()[op.body].nodes()[op.position];
  const auto put = [&](std::size_t input, const std::optional<Constant>& constant, Dims dims,
                       const std::vector<float>& values) {
    return put_constant(editor, op.body, op.position, constant, input_of(old, input),
                        float_tensor(std::move(dims), values));
  };
  const bool keeps_shape = op.bias && op.bias->tensor->element_count() == op.channels;
  const Bytes bias = put(kBiasInput, op.bias,
                         keeps_shape ? op.bias->tensor->dims : Dims{static_cast<std::int64_t>(op.channels)},
                         parameters.bias);
  const Bytes weight = parameters.weight.empty()
                           ? old.inputs[kWeightInput]
                           : put(kWeightInput, op.weight, op.weight.tensor->dims, parameters.weight);
  onnx::Node& node = editor.edit_node(op.position);
  node.inputs.resize(3);
  node.inputs[kWeightInput] = weight;
  node.inputs[kBiasInput] = bias;
  node.outputs = {output};
  std::erase_if(node.attributes, [](const auto& attribute) { return attribute->name == "beta"; });
}

}  // namespace ounce::passes
