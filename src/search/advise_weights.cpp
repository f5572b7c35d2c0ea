#include "search/advise_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plan/sources.h"
#include "plan/weights.h"
#include "search/advise_rules.h"

namespace ounce::search {
namespace {

constexpr std::uint64_t kMostValues = 100'000'000;  // that are looked at, a fraction of a second
constexpr std::size_t kTile = 65536;

// The channel that a value belongs to: axes [first, last) of the tensor, counted together.
struct Channels {
  std::size_t count = 1, inner = 1;

  explicit Channels(const plan::Weight& weight) {
    if (!weight.channels) return;
    for (std::size_t axis = weight.channels->first; axis < weight.tensor->dims.size(); ++axis)
      (axis < weight.channels->last ? count : inner) *= static_cast<std::size_t>(weight.tensor->dims[axis]);
  }
  std::size_t of(std::size_t position) const { return position / inner % count; }
};

WeightSpread spread_of(const onnx::Model& model, const plan::Weight& weight) {
  const plan::TensorSource source(model, *weight.tensor);
  const Channels channels(weight);
  std::vector<float> peaks(channels.count), scratch;
  double squares = 0;
  const std::size_t size = source.floats().size();
  for (std::size_t first = 0; first < size; first += kTile) {
    const std::size_t count = std::min(kTile, size - first);
    const std::byte* bytes = source.floats().values(first, count, scratch);
    for (std::size_t i = 0; i < count; ++i) {
      float value = 0;
      std::memcpy(&value, bytes + i * sizeof value, sizeof value);
      squares += static_cast<double>(value) * value;
      float& peak = peaks[channels.of(first + i)];
      peak = std::max(peak, std::fabs(value));
    }
    source.floats().release(first, count);
  }
  WeightSpread spread{std::string(weight.name), weight.op_type, 0, 1};
  const double rms = std::sqrt(squares / static_cast<double>(size));
  const float largest = *std::max_element(peaks.begin(), peaks.end());
  if (rms > 0 && std::isfinite(rms)) spread.peak = largest / rms;
  float smallest = largest;
  for (const float peak : peaks) smallest = peak > 0 ? std::min(smallest, peak) : smallest;
  if (smallest > 0) spread.channels = static_cast<double>(largest) / smallest;
  return spread;
}

}  // namespace

WeightSurvey survey_weights(const onnx::Model& model, const graph::Index& index) {
  WeightSurvey survey;
  std::uint64_t seen = 0;
  for (const plan::Weight& weight : plan::find_weights(index)) {
    if (!weight.fits_few_bits() || weight.tensor->element_count() == 0) continue;
    ++survey.weights;
    if (weight.tensor->byte_count() < kTinyLayer) {
      ++survey.tiny;
      continue;
    }
    seen += weight.tensor->element_count();
    survey.is_whole = survey.is_whole && seen <= kMostValues;
    if (!survey.is_whole) continue;
    const WeightSpread spread = spread_of(model, weight);
    if (spread.peak > kWideWeight) survey.widest.push_back(spread);
    if (spread.channels > kWideChannels) survey.uneven.push_back(spread);
  }
  std::stable_sort(survey.widest.begin(), survey.widest.end(),
                   [](const auto& a, const auto& b) { return a.peak > b.peak; });
  std::stable_sort(survey.uneven.begin(), survey.uneven.end(),
                   [](const auto& a, const auto& b) { return a.channels > b.channels; });
  return survey;
}

}  // namespace ounce::search
