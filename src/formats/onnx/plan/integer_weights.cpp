#include "formats/onnx/plan/integer_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/thread_pool.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/kernel_costs.h"
#include "formats/onnx/plan/plan.h"
#include "quant/linear.h"
#include "target/ort/saturation.h"

namespace ounce::plan {
namespace {

// Formats for the weights of integer kernels. With seven bits, the sum of two products with 8-bit activations
// fits int16, in which CPUs without VNNI accumulate.
constexpr quant::LinearFormat kInt7{{-64, 64}, kernels::CodeSign::kSigned, 0, true, false};
constexpr quant::LinearFormat kUint8{{0, 255}, kernels::CodeSign::kUnsigned, 128, true, false};
// A channel without weights still has a bias: the number of steps to represent it.
constexpr double kBiasSteps = 1 << 20;

// Dynamic kernels take 8 bits. uint8 replaces 4-bit weights, because its products do not saturate.
WeightType type_of(const NodeDecision& node, const IntegerRecipe& recipe) {
  const bool is_dynamic = node.arithmetic == Arithmetic::kDynamic;
  return is_dynamic && recipe.weights == WeightType::kS4 ? WeightType::kU8 : recipe.weights;
}

quant::LinearFormat format_of(WeightType type, const IntegerRecipe& recipe) {
  switch (type) {
    case WeightType::kU8: return kUint8;
    case WeightType::kS4: return quant::kSymmetricInt4;
    case WeightType::kS8: break;
  }
  return recipe.reduce_range.value_or(false) ? kInt7 : quant::kSymmetricInt8;
}

// True if weights may use all 8 bits, except where sums of pairs would saturate.
bool must_limit_pairs(const NodeDecision& node, const IntegerRecipe& recipe) {
  const bool is_wide = node.arithmetic == Arithmetic::kStatic && is_16_bit(recipe.activations);
  return !recipe.reduce_range && !is_wide && type_of(node, recipe) == WeightType::kS8;
}

// The pairs for the first use that has any; a weight may have several uses.
quant::DotProductPairs pairs_of(const graph::Index& index, const Decision& decision) {
  for (const graph::Use& use : decision.place.value->uses) {
    const quant::DotProductPairs pairs = target::pairs_of(index.node(use), decision.weight.dims);
    if (pairs.exist()) return pairs;
  }
  return {};
}

Decoder decoder_of(const NodeDecision& node, const Recipe& recipe) {
  const bool takes_codes =
      node.arithmetic == Arithmetic::kDynamic || recipe.integer.dialect == Dialect::kQOperator;
  return takes_codes ? Decoder::kKernel : Decoder::kDq;
}

void decide_weight(Decision& decision, const NodeDecision& node, const Recipe& recipe) {
  const WeightType type = type_of(node, recipe.integer);
  decision.encoding = type == WeightType::kS4 ? Encoding::kLinear4 : Encoding::kLinear8;
  decision.format = format_of(type, recipe.integer);
  // Older runtimes have ConvInteger only for two unsigned operands.
  if (node.arithmetic == Arithmetic::kDynamic && node.op->kind == IntegerKind::kConv)
    decision.format = kUint8;
  decision.scale = recipe.scale;
  decision.kernel = recipe.rounding == Rounding::kNearest ? 0 : decision.weight.kernel_taps;
  decision.decoder = decoder_of(node, recipe);
  if (recipe.granularity.kind == GranularityKind::kTensor) {
    group_by_tensor(decision);
    shape_scales(decision);
  } else {
    group_by_channel(decision);
    shape_scales(decision);
    decision.scale_dims = {static_cast<std::int64_t>(decision.layout.channels)};
  }
  decision.reason = fmt::format("weight of an integer {}", decision.weight.op_type);
}

void decide_bias(Decision& decision, const NodeDecision& node, const Recipe& recipe) {
  decision.encoding = Encoding::kInt32;
  decision.decoder = decoder_of(node, recipe);
  if (recipe.granularity.kind == GranularityKind::kTensor) {
    group_by_tensor(decision);
  } else {
    decision.weight.channels = ChannelAxes{0, 1};
    group_by_channel(decision);
  }
  shape_scales(decision);
  decision.reason = fmt::format("bias of an integer {}", decision.weight.op_type);
}

// DynamicQuantizeMatMul computes a factor for every column of a weight with a scale per channel, on each call.
// Nanoseconds on an AVX-512 CPU (ONNX Runtime 1.30, one thread, 64 to 3072 inputs, a batch of one).
constexpr double kColumnTime = 1.5, kCallTime = 600, kMultiplicationTime = 0.011;
// One scale must save this share of the time of a layer, and may increase the mean squared rounding error by
// this factor (4 dB; Gaussian weights of 512 × 512 lose 3.4 dB).
constexpr double kLeastSaving = 0.15, kMostNoise = 2.5;

bool is_slowed_by_channels(const std::vector<std::int64_t>& dims) {
  const auto inputs = static_cast<double>(dims[0]), outputs = static_cast<double>(dims[1]);
  const double columns = kColumnTime * outputs;
  return columns >= kLeastSaving * (columns + kCallTime + kMultiplicationTime * inputs * outputs);
}

// True if every use is a MatMul of one row per sample, as in networks on tables.
bool multiplies_single_rows(const graph::InferredShapes& shapes, const graph::Index& index,
                            const Decision& decision) {
  const auto& uses = decision.place.value->uses;
  return std::all_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
    return use.body == 0 && positions_of(shapes, index.node(use), use.input) == std::uint64_t{1};
  });
}

// The mean squared rounding error with one scale, relative to that with a scale per channel.
double noise_of_one_scale(const std::vector<kernels::Range>& ranges) {
  double largest = 0, sum = 0;
  for (const kernels::Range& range : ranges) {
    const double square = static_cast<double>(range.absmax()) * range.absmax();
    largest = std::max(largest, square);
    sum += square;
  }
  return sum > 0 ? largest * static_cast<double>(ranges.size()) / sum : std::numeric_limits<double>::infinity();
}

// Gives weights one scale where that is clearly faster and costs little accuracy.
void share_scales(const onnx::Model& model, const graph::Index& index, const Plan& plan,
                  const std::vector<Decision*>& weights) {
  if (plan.recipe.granularity.kind != GranularityKind::kAuto) return;
  std::optional<graph::InferredShapes> shapes;
  for (Decision* weight : weights) {
    const NodeDecision& node = plan.integer.nodes[weight->integer_node];
    const bool is_product =
        node.arithmetic == Arithmetic::kDynamic && node.op->kind == IntegerKind::kMatMul;
    if (!is_product || weight->granularity != GranularityKind::kChannel || weight->weight.dims.size() != 2 ||
        !is_slowed_by_channels(weight->weight.dims) || noise_of_one_scale(weight->ranges) > kMostNoise)
      continue;
    if (!shapes) shapes.emplace(model, index);
    if (!multiplies_single_rows(*shapes, index, *weight)) continue;
    group_by_tensor(*weight);
    shape_scales(*weight);
    kernels::Range whole;
    for (const kernels::Range& range : weight->ranges) whole.merge(range);
    weight->ranges = {whole};
    weight->format.half_scales = false;
    weight->stored_bytes = stored_bytes(*weight);
    weight->reason += ", with one scale, which is faster for single rows";
  }
}

std::vector<float> values_of(const onnx::Model& model, const onnx::Tensor& tensor) {
  const TensorSource source(model, tensor);
  std::vector<float> values(source.floats().size());
  std::memcpy(values.data(), source.floats().bytes().data(), values.size() * sizeof(float));
  return values;
}

// The smallest scale that can represent a channel's bias.
double least_scale(double bias, double input_scale, bool has_weights) {
  const double steps = has_weights ? kLargestBias : kBiasSteps;
  return std::abs(bias) / input_scale / steps;
}

// Channels without weights accept any scale, so use the one that their biases need.
void free_empty_channels(Decision& weight) {
  if (weight.affine.size() <= 1 || weight.ranges.size() != weight.affine.size()) return;
  for (std::size_t c = 0; c < weight.affine.size(); ++c) {
    if (weight.ranges[c].absmax() > 0) continue;
    weight.affine[c] = quant::make_affine(std::numeric_limits<float>::min(), weight.affine[c].zero);
  }
}

// Increases the weight's scales so that the bias fits.
void make_room(const onnx::Model& model, float input_scale, const Decision& bias, Decision& weight) {
  const std::vector<float> values = values_of(model, *bias.place.tensor);
  for (std::size_t c = 0; c < values.size(); ++c) {
    const std::size_t group = weight.affine.size() == 1 ? 0 : c;
    kernels::Affine& affine = weight.affine[group];
    const bool has_weights = group >= weight.ranges.size() || weight.ranges[group].absmax() > 0;
    const double least =
        std::max<double>(least_scale(values[c], input_scale, has_weights), std::numeric_limits<float>::min());
    if (affine.scale >= least) continue;
    affine = quant::make_affine(static_cast<float>(least), affine.zero);
    if (!weight.format.half_scales) continue;
    weight.format.half_scales = false;  // the new scale may not be a 16-bit float
    weight.stored_bytes = stored_bytes(weight);
  }
}

void scale_bias(float input_scale, const Decision& weight, Decision& bias) {
  for (const kernels::Affine& affine : weight.affine) {
    const float scale = std::max(affine.scale * input_scale, std::numeric_limits<float>::min());
    bias.affine.push_back(quant::make_affine(scale, 0));
  }
}

}  // namespace

bool decide_integer(const graph::Index& index, Decision& decision, const IntegerPlan& plan,
                    const Recipe& recipe) {
  const ValueKey key{decision.weight.graph, decision.weight.name};
  if (const auto weight = plan.weights.find(key); weight != plan.weights.end()) {
    decision.integer_node = weight->second;
    const NodeDecision& node = plan.nodes[weight->second];
    decide_weight(decision, node, recipe);
    if (decision.format.sign == kernels::CodeSign::kSigned && must_limit_pairs(node, recipe.integer))
      decision.pairs = pairs_of(index, decision);
  } else if (const auto bias = plan.biases.find(key); bias != plan.biases.end()) {
    decision.integer_node = bias->second;
    decide_bias(decision, plan.nodes[bias->second], recipe);
  } else {
    return false;
  }
  decision.is_required = true;
  decision.stored_bytes = stored_bytes(decision);
  return true;
}

void scale_integer_weights(const onnx::Model& model, const graph::Index& index, Plan& plan,
                           ThreadPool& pool) {
  std::vector<Decision*> weights;
  std::map<ValueKey, Decision*> by_value;
  for (Decision& decision : plan.decisions) {
    if (!decision.is_of_integer_op()) continue;
    by_value.emplace(ValueKey{decision.weight.graph, decision.weight.name}, &decision);
    if (decision.encoding != Encoding::kInt32) weights.push_back(&decision);
  }
  share_scales(model, index, plan, weights);
  run_jobs(
      pool, weights.size(), [&](std::size_t i) { return weights[i]->weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        Decision& weight = *weights[i];
        const TensorSource source(model, *weight.place.tensor);
        weight.affine = quant::find_affine(source.floats(), weight.layout, weight.format, weight.ranges,
                                           weight.scale, for_each);
      });
  struct Parts {
    float input_scale;
    Decision *weight, *bias;
  };
  std::vector<Parts> nodes;
  for (const auto& [key, number] : plan.integer.biases) {
    const NodeDecision& decision = plan.integer.nodes[number];
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    const auto value = [&](std::size_t input) {
      return ValueKey{index.find(decision.body, node.inputs[input]).body, node.inputs[input]};
    };
    nodes.push_back({plan.integer.activations.at(value(0)).scale, by_value.at(value(1)), by_value.at(key)});
  }
  // A weight may have several biases.
  for (const Parts& parts : nodes) free_empty_channels(*parts.weight);
  for (const Parts& parts : nodes) make_room(model, parts.input_scale, *parts.bias, *parts.weight);
  for (const Parts& parts : nodes) scale_bias(parts.input_scale, *parts.weight, *parts.bias);
}

namespace {

struct Place {
  const Decision* weight;
  Decision* bias;
  const calibration::Statistics* input;
  const onnx::Node* node;
};

// The weight minus its dequantized value.
std::vector<float> rounding_errors(const onnx::Model& model, const Decision& weight) {
  const TensorSource source(model, *weight.place.tensor);
  const quant::FloatSource& floats = source.floats();
  const std::size_t size = floats.size();
  std::vector<std::uint8_t> codes(size);
  quant::encode_linear(floats, weight.layout, weight.format, weight.affine, weight.kernel, 0, size,
                       codes.data());
  std::vector<float> decoded(size), scratch;
  quant::decode_linear(codes.data(), weight.layout, weight.format, weight.affine, 0, size, decoded.data());
  const std::byte* values = floats.values(0, size, scratch);
  for (std::size_t i = 0; i < size; ++i) {
    float value = 0;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    decoded[i] = value - decoded[i];
  }
  return decoded;
}

// For Conv [M, C/group, k…], Gemm [K, N] and [N, K].
void correct(const onnx::Model& model, const Place& place) {
  const auto& dims = place.weight->weight.dims;
  const std::vector<float> errors = rounding_errors(model, *place.weight);
  const bool is_conv = place.node->op() == Op::kConv;
  const bool is_row_major = is_conv || integer_setting(*place.node, "transB", 0) == 1;
  const auto outputs = static_cast<std::size_t>(dims[is_row_major ? 0 : 1]);
  const auto inputs = static_cast<std::size_t>(dims[is_row_major ? 1 : 0]);  // per group
  const std::size_t taps = errors.size() / outputs / inputs;
  const auto groups =
      static_cast<std::size_t>(is_conv ? integer_setting(*place.node, "group", 1).value_or(0) : 1);
  if (groups == 0 || outputs % groups != 0 || place.input->channels().size() != inputs * groups) return;
  std::vector<double> means;
  for (std::size_t c = 0; c < inputs * groups; ++c) means.push_back(place.input->mean_of_channel(c));
  place.bias->shift.assign(outputs, 0);
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t first = o / (outputs / groups) * inputs;
    double error = 0;
    for (std::size_t c = 0; c < inputs; ++c) {
      const std::size_t at = is_row_major ? (o * inputs + c) * taps : c * outputs + o;
      for (std::size_t t = 0; t < taps; ++t) error += errors[at + t] * means[first + c];
    }
    place.bias->shift[o] = static_cast<float>(error);
  }
}

}  // namespace

void correct_biases(const onnx::Model& model, const graph::Index& index, const calibration::Ranges& ranges,
                    Plan& plan, ThreadPool& pool) {
  std::map<ValueKey, Decision*> by_value;
  for (Decision& decision : plan.decisions) {
    if (decision.is_of_integer_op())
      by_value.emplace(ValueKey{decision.weight.graph, decision.weight.name}, &decision);
  }
  std::vector<Place> places;
  for (const auto& [key, number] : plan.integer.biases) {
    const NodeDecision& decision = plan.integer.nodes[number];
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    const auto owner = [&](std::size_t input) { return index.find(decision.body, node.inputs[input]).body; };
    const auto input = ranges.values.find(graph::value_path(index, owner(0), node.inputs[0]));
    if (input == ranges.values.end()) continue;
    places.push_back({by_value.at({owner(1), node.inputs[1]}), by_value.at(key), &input->second, &node});
  }
  pool.for_each(places.size(), [&](std::size_t i) { correct(model, places[i]); });
}

}  // namespace ounce::plan
