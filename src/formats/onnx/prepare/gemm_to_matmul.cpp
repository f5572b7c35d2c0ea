#include "formats/onnx/prepare/gemm_to_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"

namespace ounce::passes {
namespace {

// Values whose bits are whole bytes.
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
  // Until then an attribute said how C is spread, and Add needed one too.
  if (opset_of(model, index, body) < 7) return Reason{"its opset is older than 7"};
  if (integer_setting(node, "transA", 0) != 0) return Reason{"its left side is transposed"};
  const bool is_plain =
      float_setting(node, "alpha", 1) == 1.0F && (bias.empty() || float_setting(node, "beta", 1) == 1.0F);
  if (!is_plain) return Reason{"its alpha or beta is not 1"};
  const auto is_transposed = integer_setting(node, "transB", 0);
  if (!is_transposed) return Reason{"its transB is not known here"};
  const auto weight = find_constant(model, index, body, input_of(node, 1));
  if (!weight) return Reason{"its right side is not a constant"};
  if (weight->tensor->dims.size() != 2 || info_of(weight->tensor->type).bits % 8 != 0 ||
      weight->tensor->element_count() == 0)
    return Reason{"its right side is not a matrix"};
  const auto constant_bias = find_constant(model, index, body, bias);
  if (constant_bias && constant_bias->tensor->dims.size() > 2) return Reason{"its bias is not a matrix"};
  return Split{*weight, *is_transposed != 0};
}

class Splitting {
 public:
  explicit Splitting(onnx::Model& model) : model_(model), index_(model), editors_(model, index_) {}

  Changes run(const std::function<bool(const onnx::Node&)>& is_wanted) {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const auto& nodes = index_.bodies()[body].nodes();
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i]->op() == Op::kGemm && is_wanted(*nodes[i])) visit(body, i);
      }
    }
    editors_.finish();
    return std::move(changes_);
  }

 private:
  void visit(std::size_t body, std::size_t position) {
    const onnx::Node& gemm = *index_.bodies()[body].nodes()[position];
    const auto read = read_gemm(model_, index_, body, gemm);
    if (const auto* reason = std::get_if<Reason>(&read)) {
      changes_.left_alone.push_back(fmt::format("{}: {}", place_of(index_, body, position), reason->text));
      return;
    }
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

  // Stands where B does, so that all who see the one see the other.
  Bytes transposed_of(const Constant& weight) {
    const auto [entry, is_new] = transposed_.try_emplace(weight.value);
    if (is_new) {
      entry->second = editors_.of(weight.body).add_tensor(BodyEditor::kFront, transposed(*weight.tensor));
    }
    return entry->second;
  }

  onnx::Model& model_;
  graph::Index index_;
  Editors editors_;
  std::map<const graph::Value*, Bytes> transposed_;  // by B
  Changes changes_;
};

}  // namespace

Changes gemm_to_matmul(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted) {
  return Splitting(model).run(is_wanted);
}

}  // namespace ounce::passes
