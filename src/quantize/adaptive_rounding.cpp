#include "quantize/weight_fit.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/cancel.h"
#include "calibration/gram.h"
#include "formats/onnx/emit/expose_values.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/plan.h"
#include "quant/reconstruct.h"
#include "quantize/trial.h"

namespace ounce::quantization {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 29;  // bytes for the statistics of one pass

// A weight to round.
struct Layer {
  plan::Decision* decision = nullptr;
  passes::ObservedValue input;
  calibration::Unfolding unfolding = calibration::Unfolding::of_matrix(1);
  bool is_transposed = false;  // stored as [K, N]; rounding needs one row per channel
  std::optional<calibration::Gram> gram;
};

std::optional<calibration::Unfolding> unfolding_of(const onnx::Node& node, const onnx::Tensor& weight) {
  if (node.op() != Op::kConv) {
    const bool is_row_major = integer_setting(node, "transB", 0) == 1;
    return calibration::Unfolding::of_matrix(weight.dims[is_row_major ? 1 : 0]);
  }
  if (string_setting(node, "auto_pad", "NOTSET") != "NOTSET") return std::nullopt;
  const auto group = integer_setting(node, "group", 1);
  if (!group) return std::nullopt;
  const auto list = [&](const char* name) {
    return onnx::integers_attribute(node, name).value_or(std::vector<std::int64_t>());
  };
  calibration::Convolution convolution;
  convolution.channels = weight.dims[1] * *group;
  convolution.groups = *group;
  convolution.kernel.assign(weight.dims.begin() + 2, weight.dims.end());
  convolution.strides = list("strides");
  convolution.dilations = list("dilations");
  convolution.pads = list("pads");
  return calibration::Unfolding::of_convolution(convolution);
}

std::vector<Layer> find_layers(const graph::Index& index, plan::Plan& plan, AdaptiveResult& result) {
  std::vector<Layer> layers;
  for (plan::Decision& decision : plan.decisions) {
    if (!decision.is_of_integer_op() || !decision.is_linear()) continue;
    const plan::NodeDecision& made = plan.integer.nodes[decision.integer_node];
    if (made.arithmetic != plan::Arithmetic::kStatic) continue;
    const onnx::Node& node = *index.bodies()[made.body].nodes()[made.node];
    const auto leave = [&](const char* why) {
      result.left_alone.push_back(fmt::format("{}: {}", graph::node_label(node, made.node), why));
    };
    if (decision.granularity != GranularityKind::kChannel) {
      leave("it has a per-tensor scale");
      continue;
    }
    const auto unfolding = unfolding_of(node, *decision.place.tensor);
    if (!unfolding || calibration::Gram::is_too_large(*unfolding)) {
      leave(unfolding ? "it has too many inputs" : "its padding depends on the size of the input");
      continue;
    }
    Layer layer;
    layer.decision = &decision;
    layer.input = {index.find(made.body, node.inputs[0]).body, std::string(node.inputs[0])};
    layer.unfolding = *unfolding;
    layer.is_transposed = decision.weight.channels->first == 1;
    layers.push_back(std::move(layer));
  }
  return layers;
}

// Computes the Gram matrices of these layers' inputs.
void watch(const PreparedModel& prepared, const QuantizeOptions& options, std::span<Layer> layers,
           const ForEach& for_each, ThreadPool& pool) {
  std::vector<passes::ObservedValue> values;
  for (const Layer& layer : layers) values.push_back(layer.input);
  InputWatch inputs(prepared, options, values, pool);
  for (Layer& layer : layers) layer.gram.emplace(layer.unfolding, inputs.rows_per_batch());
  inputs.run([&](std::size_t i, const SeenInput& seen) {
    layers[i].gram->add(seen.values, seen.dims, seen.samples, for_each);
  });
}

template <class T>
std::vector<T> transposed(const std::vector<T>& matrix, std::size_t rows, std::size_t columns) {
  std::vector<T> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[c * rows + r] = matrix[r * columns + c];
  }
  return result;
}

quant::OutputError round_layer(const onnx::Model& source, Layer& layer, const ForEach& for_each) {
  plan::Decision& decision = *layer.decision;
  const plan::TensorSource tensor(source, *decision.place.tensor);
  std::vector<float> weights(tensor.floats().size());
  std::memcpy(weights.data(), tensor.floats().bytes().data(), weights.size() * sizeof(float));
  const std::size_t k = layer.gram->k(), channels = weights.size() / k;
  if (layer.is_transposed) weights = transposed(weights, k, channels);
  const auto matrices = layer.gram->matrices(for_each);
  std::vector<std::uint8_t> codes(weights.size());
  const quant::OutputError error =
      quant::round_for_output({weights, k, decision.affine, 0, decision.format.codes, matrices,
                               quant::damping_for(k, layer.gram->rows())},
                              for_each, codes.data());
  if (layer.is_transposed) codes = transposed(codes, channels, k);
  decision.codes = std::make_shared<const std::vector<std::uint8_t>>(std::move(codes));
  return error;
}

}  // namespace

AdaptiveResult round_adaptively(const PreparedModel& prepared, const QuantizeOptions& options,
                                plan::Plan& plan, ThreadPool& pool) {
  AdaptiveResult result;
  std::vector<Layer> layers = find_layers(prepared.index(), plan, result);
  const ForEach for_each = [&](std::size_t count, const std::function<void(std::size_t)>& body) {
    pool.for_each(count, body);
  };
  double before = 0, after = 0;
  for (std::size_t first = 0; first < layers.size();) {
    std::size_t last = first;
    for (std::uint64_t bytes = 0; last < layers.size(); ++last) {
      bytes += calibration::Gram::bytes(layers[last].unfolding);
      if (bytes > kMostMemory && last > first) break;
    }
    const std::span<Layer> group(layers.data() + first, last - first);
    watch(prepared, options, group, for_each, pool);
    for (Layer& layer : group) {
      throw_if_cancelled();
      const quant::OutputError error = round_layer(prepared.model(), layer, for_each);
      if (error.nearest > 0) {
        before += 1;
        after += error.achieved / error.nearest;
      }
      layer.gram.reset();
      ++result.layers;
    }
    first = last;
  }
  if (after > 0) result.gain_db = 10 * std::log10(before / after);
  return result;
}

}  // namespace ounce::quantization
