#include "formats/tflite/file/versions.h"

#include <algorithm>
#include <array>
#include <optional>

#include "formats/tflite/file/ops.h"

namespace ounce::tflite {
namespace {

using enum TensorType;

// Types that are not named do not matter.
struct VersionRow {
  Builtin code;
  std::optional<TensorType> data;    // of the input OpInfo::data
  std::optional<TensorType> weight;  // of the input OpInfo::weight
  bool is_per_channel = false;       // the row needs a scale for each channel, of the weight or the data
  std::int32_t version = 1;
};

// From tflite/tools/versioning/op_version.cc of LiteRT. The highest version of the rows that fit counts. A
// float FULLY_CONNECTED with INT4 weights has no row there; runtimes know INT4 weights from version 10 on.
constexpr auto kVersionRows = std::to_array<VersionRow>({
    {Builtin::kConv2D, kFloat32, kInt8, false, 2},
    {Builtin::kConv2D, kFloat32, kInt8, true, 5},
    {Builtin::kConv2D, kInt8, kInt8, false, 3},
    {Builtin::kConv2D, kInt8, kInt4, false, 7},
    {Builtin::kConv2D, kInt16, {}, false, 4},
    {Builtin::kDepthwiseConv2D, kFloat32, kInt8, false, 4},
    {Builtin::kDepthwiseConv2D, kFloat32, kInt8, true, 6},
    {Builtin::kDepthwiseConv2D, kInt8, kInt8, false, 3},
    {Builtin::kDepthwiseConv2D, kInt8, kInt4, false, 7},
    {Builtin::kDepthwiseConv2D, kInt16, {}, false, 5},
    {Builtin::kFullyConnected, kFloat32, kInt8, false, 3},
    {Builtin::kFullyConnected, kFloat32, kInt8, true, 12},
    {Builtin::kFullyConnected, kFloat32, kInt4, false, 10},
    {Builtin::kFullyConnected, kInt8, kInt8, false, 4},
    {Builtin::kFullyConnected, kInt8, kInt4, false, 10},
    {Builtin::kFullyConnected, kInt16, {}, false, 7},
    {Builtin::kFullyConnected, kInt16, kInt4, false, 13},
    {Builtin::kTransposeConv, {}, kInt8, false, 2},
    {Builtin::kEmbeddingLookup, {}, kInt8, true, 4},
    {Builtin::kEmbeddingLookup, {}, kInt4, false, 4},
    {Builtin::kAdd, kInt8, {}, false, 2},
    {Builtin::kSub, kInt8, {}, false, 2},
    {Builtin::kMul, kInt8, {}, false, 2},
    {Builtin::kAveragePool2D, kInt8, {}, false, 2},
    {Builtin::kMaxPool2D, kInt8, {}, false, 2},
    {Builtin::kConcatenation, kInt8, {}, false, 2},
    {Builtin::kSoftmax, kInt8, {}, false, 2},
    {Builtin::kLogistic, kInt8, {}, false, 2},
    {Builtin::kTanh, kInt8, {}, false, 2},
    {Builtin::kLogSoftmax, kInt8, {}, false, 2},
    {Builtin::kL2Normalization, kInt8, {}, false, 2},
    {Builtin::kPad, kInt8, {}, false, 2},
    {Builtin::kPadv2, kInt8, {}, false, 2},
    {Builtin::kMirrorPad, kInt8, {}, false, 2},
    {Builtin::kSpaceToDepth, kInt8, {}, false, 2},
    {Builtin::kDepthToSpace, kInt8, {}, false, 2},
    {Builtin::kResizeBilinear, kInt8, {}, false, 2},
    {Builtin::kResizeNearestNeighbor, kInt8, {}, false, 2},
    {Builtin::kMean, kInt8, {}, false, 2},
    {Builtin::kSum, kInt8, {}, false, 2},
    {Builtin::kTranspose, kInt8, {}, false, 2},
    {Builtin::kSlice, kInt8, {}, false, 2},
    {Builtin::kStridedSlice, kInt8, {}, false, 2},
    {Builtin::kSplit, kInt8, {}, false, 2},
    {Builtin::kSplitV, kInt8, {}, false, 2},
    {Builtin::kMaximum, kInt8, {}, false, 2},
    {Builtin::kMinimum, kInt8, {}, false, 2},
    {Builtin::kRelu, kInt8, {}, false, 2},
    {Builtin::kRelu6, kInt8, {}, false, 2},
    {Builtin::kLeakyRelu, kInt8, {}, false, 2},
    {Builtin::kBatchToSpaceNd, kInt8, {}, false, 2},
    {Builtin::kSpaceToBatchNd, kInt8, {}, false, 2},
    {Builtin::kPack, kInt8, {}, false, 2},
    {Builtin::kUnpack, kInt8, {}, false, 2},
    {Builtin::kReduceMax, kInt8, {}, false, 2},
    {Builtin::kReduceMin, kInt8, {}, false, 2},
    {Builtin::kAbs, kInt8, {}, false, 2},
    {Builtin::kExp, kInt8, {}, false, 2},
    {Builtin::kSquaredDifference, kInt8, {}, false, 2},
    {Builtin::kGelu, kInt8, {}, false, 2},
    {Builtin::kBatchMatmul, kInt8, {}, false, 2},
    {Builtin::kBatchMatmul, kInt16, {}, false, 3},
    {Builtin::kGather, kInt8, {}, false, 2},
    {Builtin::kGather, kInt16, {}, false, 4},
    {Builtin::kGather, kInt4, {}, false, 7},
    {Builtin::kDequantize, kInt8, {}, false, 2},
    {Builtin::kDequantize, kInt8, {}, true, 5},
    {Builtin::kDequantize, kInt16, {}, false, 3},
    {Builtin::kDequantize, kFloat16, {}, false, 3},
    {Builtin::kDequantize, kInt4, {}, false, 6},
});

const Tensor* input_of(const SubGraph& graph, const Operator& op, std::uint8_t input) {
  if (input >= op.inputs.size() || op.inputs[input] < 0) return nullptr;
  return &graph.tensors[static_cast<std::size_t>(op.inputs[input])];
}

bool is_per_channel(const Tensor* tensor) {
  return tensor != nullptr && tensor->quantization && tensor->quantization->scale.size() > 1;
}

bool is_of(const Tensor* tensor, std::optional<TensorType> type) {
  return !type || (tensor != nullptr && tensor->type == *type);
}

}  // namespace

std::int32_t least_version(const Model& model, const SubGraph& graph, const Operator& op) {
  const OpInfo& row = info(code_of(model, op));
  const Tensor* const data = input_of(graph, op, row.data);
  const Tensor* const weight = row.has_weight() ? input_of(graph, op, row.weight) : nullptr;
  std::int32_t version = 1;
  for (const VersionRow& each : kVersionRows) {
    const bool fits = each.code == row.code && is_of(data, each.data) && is_of(weight, each.weight) &&
                      (!each.is_per_channel || is_per_channel(row.has_weight() ? weight : data));
    if (fits) version = std::max(version, each.version);
  }
  return version;
}

}  // namespace ounce::tflite
