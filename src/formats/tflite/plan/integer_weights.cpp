#include "formats/tflite/plan/integer_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "formats/tflite/plan/weight_codes.h"
#include "quant/float_source.h"

namespace ounce::tflite {
namespace {

// A bias leaves as much room for the sum that it is added to.
constexpr double kLargestBias = 1 << 30;
// With 16-bit activations, sums have 64 bits, and biases 40 of them.
constexpr double kLargestWideBias = double{std::int64_t{1} << 39};
// A channel without weights still has a bias, in steps of this resolution.
constexpr double kBiasSteps = 1 << 20;
// Larger quantized weights are not cached.
constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;

quant::Layout layout_of(const Tensor& tensor, std::size_t axis, bool is_by_channel) {
  quant::Layout layout;
  if (!is_by_channel) {
    for (const std::int32_t dim : tensor.shape) layout.inner *= static_cast<std::size_t>(dim);
    return layout;
  }
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const auto dim = static_cast<std::size_t>(tensor.shape[i]);
    (i < axis ? layout.outer : i == axis ? layout.channels : layout.inner) *= dim;
  }
  return layout;
}

bool is_same(const kernels::Affine& a, const kernels::Affine& b) {
  return a.scale == b.scale && a.zero == b.zero;
}

float value_at(Bytes values, std::size_t i) {
  float value = 0;
  std::memcpy(&value, values.data() + i * sizeof value, sizeof value);
  return value;
}

const Tensor& tensor_at(const Model& model, std::size_t tensor) { return model.subgraphs[0].tensors[tensor]; }

}  // namespace

double WeightCodes::Weight::largest_scale() const {
  float largest = 0;
  for (const kernels::Affine& each : affine) largest = std::max(largest, each.scale);
  return largest;
}

WeightCodes::WeightCodes(const Model& model, const std::vector<IntegerCandidate>& candidates,
                         const Recipe& recipe, ThreadPool& pool)
    : model_(model), is_balanced_(recipe.rounding != Rounding::kNearest) {
  const SubGraph& graph = model.subgraphs[0];
  const bool is_by_channel = recipe.granularity.kind != GranularityKind::kTensor;
  for (std::size_t op = 0; op < candidates.size(); ++op) {
    if (!candidates[op].has_weight()) continue;
    const OpInfo& row = *candidates[op].row;
    const auto tensor = static_cast<std::size_t>(graph.operators[op].inputs[row.weight]);
    Weight& weight = weights_[tensor];
    weight.axis = row.weight_axis;
    weight.layout = layout_of(graph.tensors[tensor], row.weight_axis, is_by_channel);
  }
  std::vector<std::pair<std::size_t, Weight*>> all;
  for (auto& [tensor, weight] : weights_) all.emplace_back(tensor, &weight);
  run_jobs(
      pool, all.size(), [&](std::size_t i) { return values(all[i].first).size(); },
      [&](std::size_t i, const ForEach& for_each) {
        Weight& weight = *all[i].second;
        const quant::FloatSource floats(values(all[i].first), quant::FloatType::kFloat32,
                                        [this](std::string_view read) { model_.release(read); });
        weight.ranges = quant::find_ranges(floats, weight.layout, for_each);
        weight.is_finite = std::all_of(weight.ranges.begin(), weight.ranges.end(),
                                       [](const kernels::Range& range) { return range.finite(); });
        if (!weight.is_finite) return;
        weight.affine =
            quant::find_affine(floats, weight.layout, kWeightFormat, weight.ranges, recipe.scale, for_each);
        for (std::size_t c = 0; c < weight.affine.size(); ++c) {
          // Channels without weights accept any scale, so they get the best one for their biases.
          const float least = std::numeric_limits<float>::min();
          if (weight.ranges[c].absmax() == 0 || weight.affine[c].scale < least)
            weight.affine[c] = quant::make_affine(least, 0);
        }
      });
}

Bytes WeightCodes::values(std::size_t tensor) const {
  return data_of(model_, tensor_at(model_, tensor)).bytes();
}

std::string WeightCodes::encode(std::size_t tensor, const std::vector<kernels::Affine>& affine) const {
  const Weight& weight = of(tensor);
  const std::vector<std::int32_t>& shape = tensor_at(model_, tensor).shape;
  const quant::FloatSource floats(values(tensor), quant::FloatType::kFloat32,
                                  [this](std::string_view read) { model_.release(read); });
  Decision decision;
  decision.layout = weight.layout;
  decision.format = kWeightFormat;
  decision.affine = affine;
  decision.granularity = affine.size() == 1 ? GranularityKind::kTensor : GranularityKind::kChannel;
  decision.kernel = is_balanced_ ? 1 : 0;
  const bool has_taps = shape.size() == 4;  // [.., height, width, ..]
  decision.weight.kernel_taps =
      has_taps ? static_cast<std::size_t>(shape[1]) * static_cast<std::size_t>(shape[2]) : 1;
  std::string codes(floats.size(), '\0');
  encode_weight(decision, floats, run_serially, [&](std::size_t first, std::span<const std::uint8_t> those) {
    std::memcpy(codes.data() + first, those.data(), those.size());
  });
  floats.release();
  return codes;
}

std::shared_ptr<const std::string> WeightCodes::codes(std::size_t tensor,
                                                      const std::vector<kernels::Affine>& affine) const {
  const auto is_known = [&](const Coded& coded) {
    return std::equal(affine.begin(), affine.end(), coded.affine.begin(), coded.affine.end(), is_same);
  };
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = coded_.find(tensor); found != coded_.end() && is_known(found->second))
      return found->second.codes;
  }
  auto codes = std::make_shared<const std::string>(encode(tensor, affine));
  const std::lock_guard lock(mutex_);
  if (!coded_.contains(tensor)) kept_bytes_ += codes->size();
  if (kept_bytes_ <= kMostKept || coded_.contains(tensor))
    coded_[tensor] = {affine, codes};
  else
    kept_bytes_ -= codes->size();
  return codes;
}

std::vector<float> WeightCodes::mean_errors(const Operator& op, const OpInfo& row,
                                            const std::vector<kernels::Affine>& affine,
                                            std::span<const double> means) const {
  const auto tensor = static_cast<std::size_t>(op.inputs[row.weight]);
  const std::vector<std::int32_t>& shape = tensor_at(model_, tensor).shape;
  const auto outputs = static_cast<std::size_t>(shape[row.weight_axis]);
  const bool is_depthwise = row.code == Builtin::kDepthwiseConv2D;
  const auto inputs = static_cast<std::size_t>(shape.back());  // of depthwise convolutions: the outputs again
  if (means.empty() || outputs == 0 || inputs == 0) return {};
  const std::size_t multiplier = is_depthwise ? outputs / means.size() : 1;
  // Grouped convolutions: each group of outputs has its own inputs.
  const std::size_t groups = is_depthwise ? 1 : means.size() / inputs;
  if (is_depthwise ? multiplier * means.size() != outputs
                   : groups == 0 || groups * inputs != means.size() || outputs % groups != 0)
    return {};
  const Bytes source = values(tensor);
  const auto coded = codes(tensor, affine);
  const std::size_t rows = is_depthwise ? coded->size() / outputs : outputs;
  const std::size_t taps = is_depthwise ? 1 : coded->size() / outputs / inputs;
  std::vector<double> sums(outputs);
  std::size_t at = 0;
  for (std::size_t row_of_weights = 0; row_of_weights < rows; ++row_of_weights) {
    const std::size_t first = is_depthwise ? 0 : row_of_weights / (outputs / groups) * inputs;
    for (std::size_t tap = 0; tap < taps; ++tap) {
      for (std::size_t c = 0; c < inputs; ++c, ++at) {
        const std::size_t o = is_depthwise ? c : row_of_weights;
        const float scale = affine[affine.size() == 1 ? 0 : o].scale;
        const double error =
            double{value_at(source, at)} - double{scale} * static_cast<std::int8_t>((*coded)[at]);
        sums[o] += error * means[is_depthwise ? c / multiplier : first + c];
      }
    }
  }
  std::vector<float> errors;
  for (const double sum : sums) errors.push_back(static_cast<float>(sum));
  return errors;
}

OpWeights plan_weights(const Model& model, const Operator& op, const OpInfo& row, const WeightCodes& codes,
                       float input_scale, bool is_wide) {
  OpWeights planned;
  planned.weight = static_cast<std::size_t>(op.inputs[row.weight]);
  planned.axis = row.weight_axis;
  const WeightCodes::Weight& weight = codes.of(planned.weight);
  planned.affine = weight.affine;
  if (row.bias < op.inputs.size() && op.inputs[row.bias] >= 0)
    planned.bias = static_cast<std::size_t>(op.inputs[row.bias]);
  if (planned.bias != Flow::kNone) {
    const Bytes values = data_of(model, tensor_at(model, planned.bias)).bytes();
    const double most = is_wide ? kLargestWideBias : kLargestBias;
    for (std::size_t c = 0; c < values.size() / sizeof(float); ++c) {
      const std::size_t group = planned.affine.size() == 1 ? 0 : c;
      if (group >= planned.affine.size()) break;
      const bool has_weights = weight.ranges[group].absmax() > 0;
      const double bias = std::abs(double{value_at(values, c)});
      const double least = bias / double{input_scale} / (has_weights ? most : kBiasSteps);
      if (!std::isfinite(least) || planned.affine[group].scale >= least) continue;
      const double limit = std::numeric_limits<float>::max() / 256;
      planned.affine[group] = quant::make_affine(static_cast<float>(std::min(least, limit)), 0);
      if (has_weights) ++planned.raised;
    }
  }
  for (const kernels::Affine& affine : planned.affine)
    planned.bias_scale.push_back(std::max(affine.scale * input_scale, std::numeric_limits<float>::min()));
  return planned;
}

std::vector<std::int64_t> bias_codes(const Model& model, const OpWeights& weights, bool is_wide) {
  const Bytes values = data_of(model, tensor_at(model, weights.bias)).bytes();
  const double most = is_wide ? kLargestWideBias : kLargestBias;
  std::vector<std::int64_t> codes;
  for (std::size_t c = 0; c < values.size() / sizeof(float); ++c) {
    const double shift = weights.shift.empty() ? 0 : double{weights.shift[c]};
    const double scale = weights.bias_scale[weights.bias_scale.size() == 1 ? 0 : c];
    const double code = std::nearbyint((value_at(values, c) + shift) / scale);
    codes.push_back(std::isnan(code) ? 0 : static_cast<std::int64_t>(std::clamp(code, -most, most)));
  }
  return codes;
}

}  // namespace ounce::tflite
