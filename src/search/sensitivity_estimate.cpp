#include "search/sensitivity_estimate.h"

#include <cmath>
#include <map>

#include "kernels/half.h"
#include "kernels/norms.h"
#include "plan/plan.h"
#include "plan/sources.h"
#include "quant/tiles.h"

namespace ounce::search {
namespace {

using plan::Decision;

// A tile of a weight as the runtime would get it back.
class RoundTrip {
 public:
  RoundTrip(const Decision& decision, const quant::FloatSource& source, const ForEach& for_each)
      : decision_(decision), source_(source), affine_(decision.affine) {
    if (!decision.is_linear() || !affine_.empty()) return;
    const auto ranges = decision.ranges.size() == decision.layout.groups()
                            ? decision.ranges
                            : quant::find_ranges(source, decision.layout, for_each);
    affine_ = quant::find_affine(source, decision.layout, decision.format, ranges, decision.scale, for_each);
  }

  void decode(std::size_t first, std::size_t count, float* values) const {
    if (decision_.is_half()) return decode_half(first, count, values);
    std::vector<std::uint8_t> codes(count);
    quant::encode_linear(source_, decision_.layout, decision_.format, affine_, decision_.kernel, first, count,
                         codes.data());
    quant::decode_linear(codes.data(), decision_.layout, decision_.format, affine_, first, count, values);
  }

 private:
  void decode_half(std::size_t first, std::size_t count, float* values) const {
    std::vector<float> scratch;
    std::vector<std::uint16_t> halves(count);
    kernels::HalfStats stats;
    kernels::f32_to_f16(source_.values(first, count, scratch), count, halves.data(), stats);
    kernels::f16_to_f32(reinterpret_cast<const std::byte*>(halves.data()), count, values);
  }

  const Decision& decision_;
  const quant::FloatSource& source_;
  std::vector<kernels::Affine> affine_;
};

kernels::ErrorNorms weight_error(const onnx::Model& model, const Decision& decision,
                                 const ForEach& for_each) {
  if (!decision.is_linear() && !decision.is_half()) return {};
  const plan::TensorSource tensor(model, *decision.weight.tensor);
  const quant::FloatSource& source = tensor.floats();
  const RoundTrip trip(decision, source, for_each);
  const std::size_t tile_size = quant::tile_size(decision.layout.inner);
  std::vector<kernels::ErrorNorms> tiles(quant::tile_count(source, tile_size));
  quant::for_each_tile(
      source, tile_size, for_each, [&](std::size_t tile, std::size_t first, std::size_t count) {
        std::vector<float> decoded(count), scratch;
        trip.decode(first, count, decoded.data());
        kernels::error_norms(source.values(first, count, scratch), decoded.data(), count, tiles[tile]);
      });
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& tile : tiles) {
    total.signal += tile.signal;
    total.noise += tile.noise;
  }
  return total;
}

// Noise over signal of what the integer node takes and gives, by the path of its first output.
std::map<std::string, double> activation_noise(const graph::Index& index, const plan::IntegerPlan& plan) {
  const auto noise_of = [&](std::size_t body, onnx::Bytes name) {
    const auto coding = plan.codings.find({index.find(body, name).body, name});
    return coding == plan.codings.end() ? 0 : std::pow(10, -coding->second.sqnr_db / 10);
  };
  std::map<std::string, double> noise;
  for (const plan::NodeDecision& decision : plan.nodes) {
    if (!decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    double sum = noise_of(decision.body, node.inputs[0]);
    if (decision.gives_codes) sum += noise_of(decision.body, decision.output);
    noise[graph::value_path(index, decision.body, node.outputs[0])] = sum;
  }
  return noise;
}

}  // namespace

std::vector<double> estimate_noise(const make::PreparedModel& prepared, const Recipe& recipe,
                                   const std::vector<Layer>& layers) {
  const onnx::Model& model = prepared.model();
  const graph::Index& index = prepared.index();
  ThreadPool pool;
  const plan::Plan plan = plan::make_plan(model, index, recipe, pool, prepared.ranges());
  std::map<std::string, std::size_t> decisions;
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const plan::Weight& weight = plan.decisions[i].weight;
    decisions[graph::value_path(index, weight.body, weight.name)] = i;
  }
  std::vector<kernels::ErrorNorms> errors(plan.decisions.size());
  run_jobs(
      pool, errors.size(), [&](std::size_t i) { return plan.decisions[i].weight.tensor->byte_count(); },
      [&](std::size_t i, const ForEach& for_each) {
        if (plan.decisions[i].weight.fits_few_bits())
          errors[i] = weight_error(model, plan.decisions[i], for_each);
      });
  const std::map<std::string, double> activations = activation_noise(index, plan.integer);
  std::vector<double> noise;
  for (const Layer& layer : layers) {
    kernels::ErrorNorms weights;
    for (const std::string& weight : layer.weights) {
      const auto found = decisions.find(weight);
      if (found == decisions.end()) continue;
      weights.signal += errors[found->second].signal;
      weights.noise += errors[found->second].noise;
    }
    const auto around = activations.find(layer.output);
    noise.push_back((weights.signal > 0 ? weights.noise / weights.signal : 0) +
                    (around == activations.end() ? 0 : around->second));
  }
  return noise;
}

}  // namespace ounce::search
