#include "formats/onnx/prepare/equalize.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ounce::passes {
namespace {

constexpr std::array<double, 7> kAlphas = {0, 0.25, 0.5, 0.65, 0.75, 0.85, 1};
constexpr double kSteps = 255;              // of uint8, over a range
constexpr double kHalfSteps = 127;          // of int8, on each side of zero
constexpr double kRoundingNoise = 1. / 12;  // mean square of an error that is uniform over one step

// Weights this much smaller than the largest one are negligible; the limit keeps logarithms finite.
constexpr double kNoWeight = 1e-6;

// The largest variance that is possible with this mean and extent.
double largest_variance(const ChannelExtent& extent, double mean) {
  return std::max(0.0, (extent.high - mean) * (mean - extent.low));
}

double power_of(const calibration::Histogram& histogram) {
  double sum = 0, count = 0;
  for (const auto& bin : histogram.bins()) {
    sum += static_cast<double>(bin.count) * bin.middle() * bin.middle();
    count += static_cast<double>(bin.count);
  }
  return count == 0 ? 0 : sum / count;
}

// The step of the common scale after applying the factors. Zero must be representable.
double activation_step(const std::vector<ChannelExtent>& extents, std::span<const double> factors) {
  double low = 0, high = 0;
  for (std::size_t c = 0; c < extents.size(); ++c) {
    low = std::min(low, extents[c].low / factors[c]);
    high = std::max(high, extents[c].high / factors[c]);
  }
  return (high - low) / kSteps;
}

template <class Take>
void for_each_weight(const Product& product, const Take& take) {
  ChannelWalk input(product.inputs), output(product.outputs);
  for (const float weight : product.weight) {
    take(double{weight}, input.channel(), output.channel());
    input.advance();
    output.advance();
  }
}

double total_noise(std::span<const Product> products, std::span<const double> factors) {
  double sum = 0;
  for (const Product& product : products) sum += predicted_noise(product, factors);
  return sum;
}

// The logarithms of the largest |x_c| and |w_c| over all products; empty for channels that are never active.
struct Magnitudes {
  std::vector<double> activation, weight;
  std::vector<bool> is_active;
};

Magnitudes magnitudes_of(std::span<const Product> products) {
  const std::size_t channels = products.front().activation.size();
  Magnitudes found{std::vector<double>(channels), std::vector<double>(channels), {}};
  for (const Product& product : products) {
    for (std::size_t c = 0; c < channels; ++c)
      found.activation[c] = std::max(found.activation[c], product.activation[c].magnitude());
    for_each_weight(product, [&](double weight, std::size_t input, std::size_t) {
      found.weight[input] = std::max(found.weight[input], std::abs(weight));
    });
  }
  const double floor = kNoWeight * *std::max_element(found.weight.begin(), found.weight.end());
  for (std::size_t c = 0; c < channels; ++c) {
    found.is_active.push_back(found.activation[c] > 0);
    found.activation[c] = std::log(found.activation[c]);
    found.weight[c] = std::log(std::max(found.weight[c], floor));
  }
  return found;
}

std::vector<double> factors_for(double alpha, const Magnitudes& magnitudes) {
  const std::size_t channels = magnitudes.is_active.size();
  std::vector<double> factors(channels);
  double sum = 0, active = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    if (!magnitudes.is_active[c]) continue;
    factors[c] = alpha * magnitudes.activation[c] - (1 - alpha) * magnitudes.weight[c];
    sum += factors[c];
    ++active;
  }
  for (std::size_t c = 0; c < channels; ++c) {
    factors[c] = magnitudes.is_active[c]
                     ? std::clamp(std::exp(factors[c] - sum / active), kSmallestFactor, kLargestFactor)
                     : 1;
  }
  return factors;
}

}  // namespace

double ChannelExtent::magnitude() const { return std::max(std::abs(low), std::abs(high)); }

std::vector<ChannelExtent> extents_of(const calibration::Statistics& statistics) {
  std::vector<ChannelExtent> extents;
  if (statistics.not_finite() != 0) return extents;
  double squares = 0, variances = 0;
  for (std::size_t c = 0; c < statistics.channels().size(); ++c) {
    const calibration::Channel& channel = statistics.channels()[c];
    const double mean = statistics.mean_of_channel(c);
    extents.push_back({channel.minimum, channel.maximum, mean * mean});
    squares += mean * mean;
    variances += largest_variance(extents[c], mean);
  }
  const double total = power_of(statistics.histogram()) * static_cast<double>(extents.size());
  const double share = variances > 0 ? std::clamp((total - squares) / variances, 0.0, 1.0) : 0;
  for (std::size_t c = 0; c < extents.size(); ++c)
    extents[c].power += share * largest_variance(extents[c], statistics.mean_of_channel(c));
  return extents;
}

double predicted_noise(const Product& product, std::span<const double> factors) {
  const double step = activation_step(product.activation, factors);
  std::vector<double> powers, noises;
  for (std::size_t c = 0; c < factors.size(); ++c) {
    powers.push_back(product.activation[c].power / factors[c] / factors[c]);
    noises.push_back(std::min(step * step * kRoundingNoise, powers[c]));
  }
  std::vector<double> largest(product.outputs.count, 0);
  for_each_weight(product, [&](double weight, std::size_t input, std::size_t output) {
    largest[output] = std::max(largest[output], std::abs(weight * factors[input]));
  });
  double sum = 0;
  for_each_weight(product, [&](double weight, std::size_t input, std::size_t output) {
    const double scaled = weight * factors[input], weight_step = largest[output] / kHalfSteps;
    const double square = scaled * scaled;
    sum +=
        noises[input] * square + powers[input] * std::min(weight_step * weight_step * kRoundingNoise, square);
  });
  return sum;
}

std::optional<ChannelFactors> best_factors(std::span<const Product> products) {
  if (products.empty()) return std::nullopt;
  const std::vector<double> none(products.front().activation.size(), 1);
  const double before = total_noise(products, none);
  if (!std::isfinite(before)) return std::nullopt;
  const Magnitudes magnitudes = magnitudes_of(products);
  double least = before * (1 - kSmallestGain);
  std::optional<ChannelFactors> best;
  for (const double alpha : kAlphas) {
    std::vector<double> factors = factors_for(alpha, magnitudes);
    const double noise = total_noise(products, factors);
    if (!(noise > 0 && noise < least)) continue;
    least = noise;
    best = ChannelFactors{alpha, std::move(factors), 10 * std::log10(before / noise)};
  }
  return best;
}

}  // namespace ounce::passes
