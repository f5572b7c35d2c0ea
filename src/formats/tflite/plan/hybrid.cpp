#include "formats/tflite/plan/hybrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/kernel_costs.h"

namespace ounce::tflite {
namespace {

struct HybridRow {
  Builtin code;
  bool has_8 = false, has_4 = false;
  const char* why_not = nullptr;  // of an operator whose hybrid kernel is no gain
};

// Measured on x64 with LiteRT 2.3.0 (docs/reference/tflite.md).
constexpr auto kHybridRows = std::to_array<HybridRow>({
    {Builtin::kConv2D, true, false, nullptr},
    {Builtin::kFullyConnected, true, true, nullptr},
    {Builtin::kDepthwiseConv2D, false, false,
     "XNNPACK has no hybrid kernel of it, and the built-in one is slow"},
});

// The integer kernels of a convolution multiply this number of input channels at a time, also where there are
// fewer.
// FP32 convolutions add the padding of a PAD in front of them; the hybrid ones quantize what it gives.
constexpr double kLanes = 8;
// INT8 activations lose accuracy, and the estimates are off by a factor of 1.1 in the middle.
constexpr double kClearly = 0.8;

const Tensor* tensor_of(const SubGraph& graph, const std::vector<std::int32_t>& tensors, std::size_t i) {
  if (i >= tensors.size() || tensors[i] < 0) return nullptr;
  return &graph.tensors[static_cast<std::size_t>(tensors[i])];
}

bool is_float32(const Tensor* tensor) { return tensor != nullptr && tensor->type == TensorType::kFloat32; }

// The built-in kernel has no groups, so a model would depend on XNNPACK.
bool is_grouped(const Tensor& input, const Tensor& weight) {
  return input.shape.size() != 4 || weight.shape.size() != 4 || input.shape[3] != weight.shape[3];
}

}  // namespace

std::string why_not_hybrid(const Model& model, const SubGraph& graph, const Operator& op, std::size_t input,
                           unsigned bits) {
  const OpInfo& info_row = info(code_of(model, op));
  const auto* const row = std::find_if(kHybridRows.begin(), kHybridRows.end(),
                                       [&](const HybridRow& each) { return each.code == info_row.code; });
  if (row == kHybridRows.end() || input != info_row.weight)
    return fmt::format("{} has no kernel for quantized weights",
                       op_name(model.operator_codes[op.opcode_index]));
  if (row->why_not != nullptr) return row->why_not;
  if (!(bits == 8 ? row->has_8 : row->has_4))
    return fmt::format("{} has no kernel for {} bits", info_row.name, bits);
  const Tensor* const data = tensor_of(graph, op.inputs, info_row.data);
  const Tensor* const weight = tensor_of(graph, op.inputs, input);
  if (!is_float32(data) || !is_float32(tensor_of(graph, op.outputs, 0)))
    return "its activations are no float32";
  if (info_row.code == Builtin::kConv2D) {
    if (tensor_of(graph, op.inputs, info_row.bias) == nullptr)
      return "XNNPACK runs no CONV_2D without a bias";
    if (is_grouped(*data, *weight)) return "it is a grouped convolution";
  }
  if (info_row.code == Builtin::kFullyConnected) {
    if (weight->shape.size() != 2) return "its weight is no matrix";
    const bool has_options =
        op.options.table && op.options.table->info().name == std::string_view("FullyConnectedOptions");
    if (has_options && op.options.table->integer("weights_format") != 0)
      return "its weight is in a layout of its own";
    if (bits == 4 && weight->shape[1] % 2 != 0) return "XNNPACK needs an even number of inputs for 4 bits";
  }
  return {};
}

std::string why_no_lookup(const Model& model, const SubGraph& graph, const Operator& op, std::size_t input,
                          unsigned bits) {
  const Builtin code{code_of(model, op)};
  const bool is_gather = code == Builtin::kGather;
  if (!is_gather && code != Builtin::kEmbeddingLookup) return "it is no lookup";
  const Tensor* const table = tensor_of(graph, op.inputs, input);
  const Tensor* const indices = tensor_of(graph, op.inputs, is_gather ? 1 : 0);
  const Tensor* const rows = tensor_of(graph, op.outputs, 0);
  if (indices == nullptr || !is_float32(rows) || table->shape.size() != 2)
    return "it is no lookup of float32 rows";
  if (bits < 8 && table->shape[1] % 2 != 0)
    return "EMBEDDING_LOOKUP needs an even number of columns for 4 bits";
  if (!is_gather) return {};
  if (indices->type != TensorType::kInt32 && indices->type != TensorType::kInt64)
    return "its indices are no integers of 32 or 64 bits";
  const auto is_static = [](const Tensor& tensor) {
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      if (tensor.shape[i] < 1 || is_dynamic(tensor, i)) return false;
    }
    return element_count(tensor) <= std::uint64_t{0x7fffffff};
  };
  return is_static(*indices) && is_static(*rows) ? "" : "its indices have dynamic dimensions";
}

std::string why_slower_hybrid(const Model& model, const SubGraph& graph, const Operator& op,
                              const Operator* producer) {
  const OpInfo& row = info(code_of(model, op));
  std::optional<Work> work = work_of(model, graph, op);
  if (!work) return {};
  const double floats = cost_ns(row, KernelKind::kFp32, *work);
  const bool is_convolution = row.code == Builtin::kConv2D && work->form == KernelForm::kPlain;
  if (is_convolution) work->inputs = std::ceil(work->inputs / kLanes) * kLanes;
  double hybrid = cost_ns(row, KernelKind::kHybrid, *work);
  if (is_convolution && producer != nullptr && Builtin{code_of(model, *producer)} == Builtin::kPad) {
    const std::optional<Work> pad = work_of(model, graph, *producer);
    if (pad) hybrid += cost_ns(info(code_of(model, *producer)), KernelKind::kFp32, *pad);
  }
  if (hybrid <= kClearly * floats) return {};
  return "by the measured costs its hybrid kernel is not clearly faster than FP32";
}

}  // namespace ounce::tflite
