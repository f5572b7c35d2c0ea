#include "formats/onnx/prepare/integer_rewrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <variant>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using graph::Use;

class HardSwishRewrite : GraphRewrite {
 public:
  explicit HardSwishRewrite(onnx::Model& model) : GraphRewrite(model) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      const bool is_hard = node.op() == Op::kHardSwish || node.op() == Op::kHardSigmoid;
      if (!is_hard || !stands_between_integers(index_, body, node)) return;
      if (node.op() == Op::kHardSwish) rewrite_swish(body, position, node);
      if (node.op() == Op::kHardSigmoid) rewrite_sigmoid(body, position, node);
    });
  }

 private:
  Bytes number(BodyEditor& editor, float value) {
    return editor.add_shared(fmt::format("number {}", value), scalar(ElementType::kFloat, value));
  }

  // Clips x at `low`, or returns x itself if its quantized range must reach below `low`.
  Bytes limited(std::size_t body, std::size_t position, Bytes x, float low, std::size_t uses) {
    const auto found = index_.find(body, x);
    const bool is_ours = found.body == body && found.value->producer != kNone && !found.value->is_output &&
                         found.value->uses.size() == uses;
    if (!is_ours || !(low < 0)) return x;
    // A clip costs nothing only directly after an integer op.
    const onnx::Node& maker = *index_.bodies()[body].nodes()[found.value->producer];
    const plan::IntegerForm* op = plan::find_static_form(maker);
    if (op == nullptr || !op->may_give_codes() || op->kind == plan::IntegerKind::kMovement) return x;
    BodyEditor& editor = editors_.of(body);
    return Chain(editor, position, x).node(Op::kClip, {number(editor, low)}).value();
  }

  // clip(α·x + β, 0, 1)
  Chain sigmoid(std::size_t body, std::size_t position, Bytes x, float alpha, float beta) {
    BodyEditor& editor = editors_.of(body);
    Chain chain(editor, position, x);
    if (alpha != 1) chain.node(Op::kMul, {number(editor, alpha)});
    if (beta != 0) chain.node(Op::kAdd, {number(editor, beta)});
    chain.node(Op::kClip, {number(editor, 0), number(editor, 1)});
    return chain;
  }

  void rewrite_swish(std::size_t body, std::size_t position, const onnx::Node& node) {
    constexpr float kSlope = 1.0F / 6, kMiddle = 0.5F, kLow = -3;
    const Bytes x = limited(body, position, node.inputs[0], kLow, 1);
    const Bytes gate = sigmoid(body, position, x, kSlope, kMiddle).value();
    Chain(editors_.of(body), position, x).node(Op::kMul, {gate}).finish(node.outputs[0]);
    editors_.of(body).remove_node(position);
    ++changes_.count;
  }

  void rewrite_sigmoid(std::size_t body, std::size_t position, const onnx::Node& node) {
    const auto alpha = onnx::float_setting(node, "alpha", 0.2F),
               beta = onnx::float_setting(node, "beta", 0.5F);
    if (!alpha || !beta || !(*alpha > 0) || !std::isfinite(*alpha) || !std::isfinite(*beta))
      return leave(body, position, "its alpha or beta cannot be used");
    Bytes x = node.inputs[0];
    if (const Use* product = find_product(body, x, node.outputs[0])) {
      const Bytes held = limited(body, position, x, -*beta / *alpha, 2);
      if (held != x) editors_.of(body).edit_node(product->node).inputs[product->input] = held;
      x = held;
    }
    sigmoid(body, position, x, *alpha, *beta).finish(node.outputs[0]);
    editors_.of(body).remove_node(position);
    ++changes_.count;
  }

  // The product of x and its HardSigmoid, if the latter has no other use.
  const Use* find_product(std::size_t body, Bytes x, Bytes gate) const {
    const graph::Value& made = *index_.find(body, gate).value;
    if (made.is_output || made.uses.size() != 1) return nullptr;
    const Use& use = made.uses[0];
    const onnx::Node& node = index_.node(use);
    if (use.body != body || node.op() != Op::kMul || node.inputs[1 - use.input] != x) return nullptr;
    for (const Use& other : index_.find(body, x).value->uses) {
      if (other.body == body && other.node == use.node && other.input != use.input) return &other;
    }
    return nullptr;
  }
};

}  // namespace

Changes rewrite_hard_swish(onnx::Model& model) { return HardSwishRewrite(model).run(); }

Changes tanh_to_sigmoid(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (node.op() != Op::kTanh || !stands_between_integers(index, body, node)) return;
    BodyEditor& editor = editors.of(body);
    const Bytes two = editor.add_shared("number 2", scalar(ElementType::kFloat, 2.0F));
    const Bytes minus_one = editor.add_shared("number -1", scalar(ElementType::kFloat, -1.0F));
    Chain chain(editor, position, node.inputs[0]);
    chain.node(Op::kMul, {two}).node(Op::kSigmoid, {}).node(Op::kMul, {two}).node(Op::kAdd, {minus_one});
    chain.finish(node.outputs[0]);
    editor.remove_node(position);
    ++changes.count;
  });
  editors.finish();
  return changes;
}

namespace {

using graph::kNone;

// The rank of a value, from a Conv before it through ops that keep the rank; 0 if there is none.
std::size_t rank_behind_conv(const onnx::Model& model, const graph::Index& index, std::size_t body,
                             Bytes name) {
  for (int steps = 0; steps < plan::kLongestSearch; ++steps) {
    const auto found = index.find(body, name);
    if (found.value == nullptr || found.value->producer == kNone) return 0;
    body = found.body;
    const onnx::Node& node = *index.bodies()[body].nodes()[found.value->producer];
    if (node.op() == Op::kConv || node.op() == Op::kConvTranspose) {
      const auto weight = find_constant(model, index, body, input_of(node, 1));
      return weight ? weight->tensor->dims.size() : 0;
    }
    const ops::Shape shape = node.info().shape;
    const bool keeps_rank = shape == ops::Shape::kSame || shape == ops::Shape::kBroadcast ||
                            shape == ops::Shape::kConcat || shape == ops::Shape::kPool;
    if (!keeps_rank || node.inputs.empty()) return 0;
    const bool is_number_first = find_constant(model, index, body, node.inputs[0]).has_value();
    if (is_number_first && node.inputs.size() < 2) return 0;
    name = node.inputs[is_number_first ? 1 : 0];
  }
  return 0;
}

// From opset 18 on the axes are an input.
std::optional<std::vector<std::int64_t>> axes_of(const onnx::Model& model, const graph::Index& index,
                                                 std::size_t body, const onnx::Node& node) {
  if (const auto axes = onnx::integers_attribute(node, "axes")) return axes;
  const auto constant = find_constant(model, index, body, input_of(node, 1));
  if (!constant || constant->tensor->type != ElementType::kInt64) return std::nullopt;
  const onnx::RawValues raw(*constant->tensor);
  std::vector<std::int64_t> axes(raw.bytes().size() / sizeof(std::int64_t));
  if (!axes.empty()) std::memcpy(axes.data(), raw.bytes().data(), axes.size() * sizeof(std::int64_t));
  return axes;
}

// True if the axes are all spatial axes, in any order.
bool are_positions(std::vector<std::int64_t> axes, std::size_t rank) {
  for (std::int64_t& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  std::sort(axes.begin(), axes.end());
  if (rank < 3 || axes.size() != rank - 2) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<std::int64_t>(i) + 2) return false;
  }
  return true;
}

}  // namespace

Changes mean_to_pool(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (node.op() != Op::kReduceMean || !stands_between_integers(index, body, node)) return;
    const auto axes = axes_of(model, index, body, node);
    const auto keeps = onnx::integer_setting(node, "keepdims", 1);
    if (!axes || !keeps || !are_positions(*axes, rank_behind_conv(model, index, body, node.inputs[0])))
      return;
    BodyEditor& editor = editors.of(body);
    Chain chain(editor, position, node.inputs[0]);
    chain.node(Op::kGlobalAveragePool, {});
    if (*keeps == 0) chain.node(Op::kFlatten, {});
    chain.finish(node.outputs[0]);
    editor.remove_node(position);
    ++changes.count;
  });
  editors.finish();
  return changes;
}

Changes division_to_product(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  Changes changes;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (node.op() != Op::kDiv || !stands_between_integers(index, body, node)) return;
    const auto constant = find_constant(model, index, body, input_of(node, 1));
    if (!constant || constant->tensor->type != ElementType::kFloat || constant->tensor->element_count() != 1)
      return;
    const float factor = 1 / floats_of(*constant->tensor)[0];
    if (!std::isnormal(factor) || !std::isnormal(1 / factor)) return;
    BodyEditor& editor = editors.of(body);
    const Bytes name = editor.add_tensor(position, float_tensor(constant->tensor->dims, std::vector{factor}));
    Chain(editor, position, node.inputs[0]).node(Op::kMul, {name}).finish(node.outputs[0]);
    editor.remove_node(position);
    ++changes.count;
  });
  editors.finish();
  return changes;
}

namespace {

// For element types of whole bytes.
onnx::Tensor transposed(const onnx::Tensor& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.dims[0]),
             columns = static_cast<std::size_t>(matrix.dims[1]);
  const std::size_t width = static_cast<std::size_t>(info_of(matrix.type).bits) / 8;
  const onnx::RawValues raw(matrix);
  std::string bytes(raw.bytes().size(), '\0');
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(&raw.bytes()[(r * columns + c) * width], width, &bytes[(c * rows + r) * width]);
  }
  return make_tensor(matrix.type, {matrix.dims[1], matrix.dims[0]}, std::move(bytes));
}

struct Split {
  Constant weight;
  bool is_transposed = false;
};

std::variant<Split, Reason> read_gemm(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node) {
  const Bytes bias = input_of(node, 2);
  if (node.outputs.size() != 1 || node.outputs[0].empty()) return Reason{"it has no output"};
  // Older opsets control the broadcast of C by an attribute, and Add needs one, too.
  if (opset_of(model, index, body) < 7) return Reason{"its opset is older than 7"};
  if (integer_setting(node, "transA", 0) != 0) return Reason{"its left input is transposed (transA)"};
  const bool is_plain =
      float_setting(node, "alpha", 1) == 1.0F && (bias.empty() || float_setting(node, "beta", 1) == 1.0F);
  if (!is_plain) return Reason{"its alpha or beta is not 1"};
  const auto is_transposed = integer_setting(node, "transB", 0);
  if (!is_transposed) return Reason{"its transB cannot be read"};
  const auto weight = find_constant(model, index, body, input_of(node, 1));
  if (!weight) return Reason{"its right input is not a constant"};
  if (weight->tensor->dims.size() != 2 || info_of(weight->tensor->type).bits % 8 != 0 ||
      weight->tensor->element_count() == 0)
    return Reason{"its right input is not a matrix"};
  const auto constant_bias = find_constant(model, index, body, bias);
  if (constant_bias && constant_bias->tensor->dims.size() > 2) return Reason{"its bias is not a matrix"};
  return Split{*weight, *is_transposed != 0};
}

class Splitting : GraphRewrite {
 public:
  explicit Splitting(onnx::Model& model) : GraphRewrite(model) {}

  Changes run(const std::function<bool(const onnx::Node&)>& is_wanted) {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (node.op() == Op::kGemm && is_wanted(node)) visit(body, position);
    });
  }

 private:
  void visit(std::size_t body, std::size_t position) {
    const onnx::Node& gemm = *index_.bodies()[body].nodes()[position];
    const auto read = read_gemm(model_, index_, body, gemm);
    if (const auto* reason = std::get_if<Reason>(&read)) return leave(body, position, reason->text);
    const auto& split = std::get<Split>(read);
    const Bytes weight = split.is_transposed ? transposed_of(split.weight) : gemm.inputs[1];
    replace(body, position, weight);
    ++changes_.count;
  }

  void replace(std::size_t body, std::size_t position, Bytes weight) {
    BodyEditor& editor = editors_.of(body);
    const onnx::Node& gemm = editor.node(position);
    const Bytes bias = input_of(gemm, 2), output = gemm.outputs[0];
    onnx::Node product;
    product.name = gemm.name;
    product.set_op(Op::kMatMul);
    product.inputs = {gemm.inputs[0], weight};
    product.outputs = {bias.empty() ? output : editor.names().fresh("v")};
    product.carried = gemm.carried;
    onnx::Node sum;
    sum.set_op(Op::kAdd);
    sum.inputs = {product.outputs[0], bias};
    sum.outputs = {output};
    editor.replace_node(position);
    editor.add_node(position, std::move(product));
    if (!bias.empty()) editor.add_node(position, std::move(sum));
  }

  // The transpose is in the body of B, so all users of B can see it.
  Bytes transposed_of(const Constant& weight) {
    const auto [entry, is_new] = transposed_.try_emplace(weight.value);
    if (is_new) {
      entry->second = editors_.of(weight.body).add_tensor(BodyEditor::kFront, transposed(*weight.tensor));
    }
    return entry->second;
  }

  std::map<const graph::Value*, Bytes> transposed_;  // by B
};

}  // namespace

Changes gemm_to_matmul(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted) {
  return Splitting(model).run(is_wanted);
}

}  // namespace ounce::passes
