#include "formats/onnx/prepare/fold_batch_norm.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/linear_op.h"
#include "formats/onnx/file/attributes.h"

namespace ounce::passes {
namespace {

using graph::Use;

bool is_batch_norm(const onnx::Node& node) { return node.op() == Op::kBatchNormalization; }

// One output, and no attribute that asks for training or for a normalisation of every position by itself.
bool is_inference(const onnx::Node& node, std::int64_t opset) {
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) return false;
  }
  const bool is_whole = !node.outputs.empty() && !node.outputs[0].empty();
  return is_whole && integer_setting(node, "training_mode", 0) == 0 &&
         integer_setting(node, "spatial", 1) == 1 && (opset >= 7 || integer_setting(node, "is_test", 0) == 1);
}

// The parameters of a normalisation, in the order of its inputs 1 to 4.
using Parameters = std::array<std::vector<float>, 4>;

std::variant<Parameters, Reason> read_parameters(const onnx::Model& model, const graph::Index& index,
                                                 const Use& norm, std::size_t channels) {
  Parameters parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto constant = find_constant(model, index, norm.body, input_of(index.node(norm), i + 1));
    if (!constant) return Reason{"its parameters are not all constants"};
    if (constant->tensor->type != ElementType::kFloat) return Reason{"its parameters are not float32"};
    if (constant->tensor->dims.size() != 1 || constant->tensor->element_count() != channels)
      return Reason{fmt::format("its parameters are not for {} channels", channels)};
    parameters[i] = floats_of(*constant->tensor);
  }
  return parameters;
}

std::variant<Affine, Reason> read_batch_norm(const onnx::Model& model, const graph::Index& index,
                                             const Use& norm, std::size_t channels) {
  const onnx::Node& node = index.node(norm);
  if (!is_inference(node, opset_of(model, index, norm.body)))
    return Reason{"it is not the per-channel normalisation of inference"};
  const auto epsilon = float_setting(node, "epsilon", 1e-5F);
  if (!epsilon) return Reason{"its epsilon is not known here"};
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

// The normalisation that takes this value, if any does.
const Use* find_batch_norm(const graph::Index& index, const graph::Value& value) {
  for (const Use& use : value.uses) {
    if (use.input == 0 && is_batch_norm(index.node(use))) return &use;
  }
  return nullptr;
}

class BatchNormFolding {
 public:
  explicit BatchNormFolding(onnx::Model& model)
      : model_(model), index_(model), limit_(index_), editors_(model, index_) {}

  Changes run() {
    graph::for_each_node(index_, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (is_linear_op(node)) fold_behind(body, position);
    });
    editors_.finish();
    return std::move(changes_);
  }

 private:
  // The normalisations behind an op, one after another, as one.
  struct Chain {
    Affine affine;
    std::vector<Use> norms;
  };

  void leave(const Use& norm, const std::string& why) {
    changes_.left_alone.push_back(fmt::format("{}: {}", place_of(index_, norm.body, norm.node), why));
  }

  void fold_behind(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    const Use* first = find_output_norm(body, node);
    if (first == nullptr) return;
    const auto op = read_linear_op(model_, index_, body, position);
    if (const auto* reason = std::get_if<Reason>(&op))
      return leave(*first, fmt::format("{} in front of it: {}", node.op_type(), reason->text));
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

  onnx::Model& model_;
  graph::Index index_;
  WorkLimit limit_;
  Editors editors_;
  Changes changes_;
};

}  // namespace

Changes fold_batch_norm(onnx::Model& model) { return BatchNormFolding(model).run(); }

}  // namespace ounce::passes
