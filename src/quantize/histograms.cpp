#include "quantize/histograms.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace ounce::quantization {
namespace {

constexpr std::size_t kSpan = 4096, kSpans = 256;  // values that are read together, and how many times

// Of one value: a single bin.
ValueHistogram empty_histogram(double low, double high) {
  return {low, high, std::vector<std::uint64_t>(high > low ? ValueHistogram::kBins : 1)};
}

std::size_t bin_of(const ValueHistogram& histogram, double value) {
  if (histogram.counts.size() == 1) return 0;
  const double place = (value - histogram.low) / (histogram.high - histogram.low);
  const auto bins = static_cast<double>(histogram.counts.size());
  return static_cast<std::size_t>(std::clamp(place * bins, 0.0, bins - 1));
}

std::vector<float> spread_values(const quant::FloatSource& weight) {
  std::vector<float> all, scratch;
  const std::size_t spans = std::min(kSpans, (weight.size() + kSpan - 1) / kSpan);
  for (std::size_t i = 0; i < spans; ++i) {
    const std::size_t first = spans == kSpans ? i * (weight.size() / kSpans) : i * kSpan;
    const std::size_t count = std::min(kSpan, weight.size() - first);
    const std::byte* bytes = weight.values(first, count, scratch);
    const std::size_t before = all.size();
    all.resize(before + count);
    std::memcpy(all.data() + before, bytes, count * sizeof(float));
  }
  std::erase_if(all, [](float value) { return !std::isfinite(value); });
  return all;
}

}  // namespace

ValueHistogram histogram_of(const quant::FloatSource& weight) {
  const std::vector<float> values = spread_values(weight);
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  ValueHistogram histogram = empty_histogram(*low, *high);
  for (const float value : values) ++histogram.counts[bin_of(histogram, value)];
  return histogram;
}

ValueHistogram histogram_of(const calibration::Statistics& value, const ValueRange& range) {
  if (value.count() == 0) return {};
  ValueHistogram histogram = empty_histogram(value.minimum(), value.maximum());
  std::uint64_t clipped = 0;
  for (const calibration::Histogram::Bin& bin : value.histogram().bins()) {
    histogram.counts[bin_of(histogram, bin.middle())] += bin.count;
    // A bin that the limit goes through counts as inside: the extremes of the data are no clipped values.
    if (bin.high < range.low || bin.low > range.high) clipped += bin.count;
  }
  histogram.clipped_share = static_cast<double>(clipped) / static_cast<double>(value.count());
  return histogram;
}

}  // namespace ounce::quantization
