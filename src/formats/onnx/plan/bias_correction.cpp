#include "formats/onnx/plan/bias_correction.h"

#include <cstring>
#include <map>

#include "base/thread_pool.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/plan.h"
#include "quant/linear.h"

namespace ounce::plan {
namespace {

struct Place {
  const Decision* weight;
  Decision* bias;
  const calibration::Statistics* input;
  const onnx::Node* node;
};

// The weight minus what its codes stand for.
std::vector<float> rounding_errors(const onnx::Model& model, const Decision& weight) {
  const TensorSource source(model, *weight.weight.tensor);
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

// Of Conv [M, C/group, k…], Gemm [K, N] and [N, K].
void correct(const onnx::Model& model, const Place& place) {
  const auto& dims = place.weight->weight.tensor->dims;
  const std::vector<float> errors = rounding_errors(model, *place.weight);
  const bool is_conv = place.node->op() == Op::kConv;
  const bool is_row_major = is_conv || integer_setting(*place.node, "transB", 0) == 1;
  const auto outputs = static_cast<std::size_t>(dims[is_row_major ? 0 : 1]);
  const auto inputs = static_cast<std::size_t>(dims[is_row_major ? 1 : 0]);  // of a group
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
      by_value.emplace(ValueKey{decision.weight.body, decision.weight.name}, &decision);
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
