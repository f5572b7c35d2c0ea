#include "search/tune/layer_noise.h"

#include <cstdint>
#include <utility>

#include "kernels/half.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::search {
namespace {

// Quantizes and dequantizes tiles of a weight, as the runtime would.
class RoundTrip {
 public:
  RoundTrip(const plan::TensorPlan& decision, std::vector<kernels::Affine> affine,
            const quant::FloatSource& source, const ForEach& for_each)
      : decision_(decision), source_(source), affine_(std::move(affine)) {
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

  const plan::TensorPlan& decision_;
  const quant::FloatSource& source_;
  std::vector<kernels::Affine> affine_;
};

}  // namespace

kernels::ErrorNorms weight_error(const plan::TensorPlan& decision, std::vector<kernels::Affine> affine,
                                 const quant::FloatSource& source, const ForEach& for_each) {
  if (!decision.is_linear() && !decision.is_half()) return {};
  const RoundTrip trip(decision, std::move(affine), source, for_each);
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

std::vector<double> noise_of_layers(const std::vector<Layer>& layers,
                                    const std::map<std::string, kernels::ErrorNorms>& weights,
                                    const std::map<std::string, double>& activations) {
  std::vector<double> noise;
  for (const Layer& layer : layers) {
    kernels::ErrorNorms sum;
    for (const std::string& weight : layer.weights) {
      const auto found = weights.find(weight);
      if (found == weights.end()) continue;
      sum.signal += found->second.signal;
      sum.noise += found->second.noise;
    }
    const auto around = activations.find(layer.output);
    noise.push_back((sum.signal > 0 ? sum.noise / sum.signal : 0) +
                    (around == activations.end() ? 0 : around->second));
  }
  return noise;
}

}  // namespace ounce::search
