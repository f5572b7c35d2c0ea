#include "observe/energy.h"

#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ounce::observe {
namespace {

constexpr double kLeastShare = 1e-2;  // of the mean
constexpr float kLargestSquared = 1e18F;

}  // namespace

void Energy::add(std::span<const float> values) {
  const std::size_t columns = sums_.size();
  if (columns == 0 || values.size() % columns != 0)
    throw Error(ErrorCode::kInternal, "the rows of a product's input do not fit its weight");
  for (std::size_t at = 0; at < values.size(); at += columns) {
    const std::span<const float> row = values.subspan(at, columns);
    if (!std::all_of(row.begin(), row.end(), [](float x) { return std::abs(x) <= kLargestSquared; }))
      continue;
    for (std::size_t c = 0; c < columns; ++c)
      sums_[c] += static_cast<double>(row[c]) * static_cast<double>(row[c]);
    ++rows_;
  }
}

std::vector<float> Energy::means() const {
  const double mean = std::accumulate(sums_.begin(), sums_.end(), 0.0) / static_cast<double>(sums_.size());
  if (!(mean > 0) || !std::isfinite(mean)) return {};
  std::vector<float> means;
  for (const double sum : sums_) means.push_back(static_cast<float>(std::max(sum / mean, kLeastShare)));
  return means;
}

}  // namespace ounce::observe
