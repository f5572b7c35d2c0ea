#include "formats/tflite/plan/integer_candidates.h"

#include <fmt/format.h>

#include <algorithm>

namespace ounce::tflite {
namespace {

// XNNPACK concatenates up to this number of tensors; the kernel of TFLite concatenates more.
constexpr std::size_t kMostJoined = 5;
// ActivationFunctionType: integer kernels have these fused, which are limits of their codes.
constexpr std::int64_t kRelu6 = 3;

// INT8 kernels that end the run at some values: a negative root, a division by 0.
bool refuses_values(Builtin code) {
  return code == Builtin::kDiv || code == Builtin::kLog || code == Builtin::kSqrt || code == Builtin::kRsqrt;
}

class Finder {
 public:
  Finder(const Model& model, const Flow& flow) : model_(model), graph_(model.subgraphs[0]), flow_(flow) {}

  IntegerCandidate look_at(const Operator& op) const {
    IntegerCandidate found;
    found.row = &info(code_of(model_, op));
    if (!touches_floats(op)) return found;
    found.why_float = why_float(op, found);
    found.has_kernel = found.why_float.empty();
    if (!found.has_kernel) return found;
    const bool is_long = found.row->code == Builtin::kConcatenation && op.inputs.size() > kMostJoined;
    found.in_xnnpack = found.row->in_xnnpack && !is_long;
    return found;
  }

 private:
  const Tensor& tensor(std::int32_t index) const { return graph_.tensors[static_cast<std::size_t>(index)]; }
  bool is_float(std::int32_t index) const { return index >= 0 && tensor(index).type == TensorType::kFloat32; }
  bool is_constant(std::int32_t index) const {
    return index >= 0 && flow_.is_constant[static_cast<std::size_t>(index)];
  }
  // Of which the values are in the file, dense and as floats.
  bool is_readable(std::int32_t index) const {
    if (!is_float(index) || !is_constant(index)) return false;
    const Tensor& constant = tensor(index);
    return constant.external_buffer == 0 && !constant.sparsity &&
           byte_count(constant) == data_of(model_, constant).size() && data_of(model_, constant).size() != 0;
  }

  bool touches_floats(const Operator& op) const {
    const auto touches = [this](std::int32_t index) { return is_float(index); };
    return std::any_of(op.inputs.begin(), op.inputs.end(), touches) ||
           std::any_of(op.outputs.begin(), op.outputs.end(), touches);
  }

  std::string why_float(const Operator& op, IntegerCandidate& found) const {
    const OpInfo& row = *found.row;
    const std::string name = op_name(model_.operator_codes[op.opcode_index]);
    if (row.int8 == IntegerRule::kNone || row.code == Builtin::kQuantize || row.code == Builtin::kDequantize)
      return fmt::format("{} has no INT8 kernel", name);
    if (refuses_values(row.code)) return fmt::format("the INT8 kernel of {} refuses some values", name);
    for (const std::int32_t output : op.outputs) {
      if (!is_float(output)) return fmt::format("{} gives no floats", name);
      found.outputs.push_back(static_cast<std::size_t>(output));
    }
    const std::string why = why_not_inputs(op, found);
    if (!why.empty()) return why;
    if (found.data.empty()) return "it takes constants only";
    if (fused_activation(op) > kRelu6) return "its fused activation has no INT8 form";
    return row.int8 == IntegerRule::kWeights ? why_not_weight(op, row) : std::string();
  }

  std::string why_not_inputs(const Operator& op, IntegerCandidate& found) const {
    const OpInfo& row = *found.row;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const std::int32_t input = op.inputs[i];
      const bool is_parameter = row.int8 == IntegerRule::kWeights && (i == row.weight || i == row.bias);
      if (input < 0 || !is_float(input) || is_parameter) continue;
      if (tensor(input).is_variable) return "it changes a variable";
      if (!is_constant(input)) {
        found.data.push_back(i);
      } else if (is_readable(input)) {
        found.numbers.push_back(i);
      } else {
        return "the values of a constant are not in the file as floats";
      }
    }
    return {};
  }

  std::string why_not_weight(const Operator& op, const OpInfo& row) const {
    if (row.weight >= op.inputs.size() || !is_readable(op.inputs[row.weight]))
      return "its weight is no float constant";
    const Tensor& weight = tensor(op.inputs[row.weight]);
    if (row.weight_axis >= weight.shape.size()) return "its weight has no channels";
    if (row.data >= op.inputs.size() || !is_float(op.inputs[row.data])) return "its input is no float";
    if (row.bias < op.inputs.size() && op.inputs[row.bias] >= 0) {
      const auto channels = static_cast<std::uint64_t>(weight.shape[row.weight_axis]);
      if (!is_readable(op.inputs[row.bias]) || element_count(tensor(op.inputs[row.bias])) != channels)
        return "its bias is no float constant of one value a channel";
    }
    if (op.options.table && op.options.table->info().name == std::string_view("FullyConnectedOptions") &&
        op.options.table->integer("weights_format") != 0)
      return "its weight is stored for another kernel";
    return {};
  }

  static std::int64_t fused_activation(const Operator& op) {
    if (!op.options.table) return 0;
    for (const FieldInfo& field : op.options.table->info().fields) {
      if (field.name == std::string_view("fused_activation_function"))
        return op.options.table->integer(field.name);
    }
    return 0;
  }

  const Model& model_;
  const SubGraph& graph_;
  const Flow& flow_;
};

}  // namespace

std::vector<IntegerCandidate> find_integer_candidates(const Model& model, const Flow& flow) {
  const Finder finder(model, flow);
  std::vector<IntegerCandidate> found;
  for (const Operator& op : model.subgraphs[0].operators) found.push_back(finder.look_at(op));
  return found;
}

std::vector<std::size_t> values_to_observe(const Model& model,
                                           const std::vector<IntegerCandidate>& candidates) {
  std::vector<bool> is_wanted(model.subgraphs[0].tensors.size());
  std::vector<std::size_t> values;
  const auto want = [&](std::size_t tensor) {
    if (!is_wanted[tensor]) values.push_back(tensor);
    is_wanted[tensor] = true;
  };
  for (std::size_t op = 0; op < candidates.size(); ++op) {
    if (!candidates[op].has_kernel) continue;
    for (const std::size_t i : candidates[op].data)
      want(static_cast<std::size_t>(model.subgraphs[0].operators[op].inputs[i]));
    for (const std::size_t output : candidates[op].outputs) want(output);
  }
  return values;
}

}  // namespace ounce::tflite
