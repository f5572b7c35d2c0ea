#include "passes/own_biases.h"

#include <fmt/format.h>

#include "graph/index.h"
#include "onnx/settings.h"
#include "passes/constants.h"
#include "passes/editors.h"
#include "passes/linear_op.h"
#include "passes/work_limit.h"

namespace ounce::passes {
namespace {

// How many channels the op gives; nothing where its weight does not say.
std::optional<std::int64_t> channels_of(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                        const onnx::Node& node) {
  const auto weight = find_constant(model, index, body, input_of(node, kWeightInput));
  if (!weight || weight->tensor->dims.size() < 2) return std::nullopt;
  const bool is_first = node.op_type == "Conv" || integer_setting(node, "transB", 0) == 1;
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
      if (is_op(node, "Conv") || is_op(node, "Gemm")) own(body, position, node);
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
    const std::vector<float> values = spread(*bias->tensor, *channels, node.op_type == "Gemm");
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
