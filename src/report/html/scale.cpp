#include "report/html/scale.h"

#include <fmt/format.h>

#include <cmath>

namespace ounce::report::html {

void Extent::widen(double share) {
  const double by = high > low ? (high - low) * share : std::max(std::fabs(low) * share, 1e-9);
  low -= by;
  high += by;
}

void Extent::span_at_least(double span) {
  const double missing = span - (high - low);
  if (!(missing > 0)) return;
  low -= missing / 2;
  high += missing / 2;
}

std::vector<double> ticks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  const double step = power * (factor > 5 ? 10 : factor > 2 ? 5 : factor > 1 ? 2 : 1);
  std::vector<double> all;
  constexpr std::size_t kMost = 32;
  for (double at = std::ceil(low / step - 1e-9); at * step <= high + step * 1e-9 && all.size() < kMost; ++at)
    all.push_back(at * step);
  return all;
}

std::string tick_text(double value, double step) {
  if (std::fabs(value) >= 1e6 || (step > 0 && step < 1e-5)) return fmt::format("{:.3g}", value);
  const int digits =
      step > 0 ? static_cast<int>(std::clamp(-std::floor(std::log10(step) + 1e-9), 0.0, 6.0)) : 2;
  return fmt::format("{:.{}f}", std::fabs(value) < step * 1e-6 ? 0.0 : value, digits);
}

}  // namespace ounce::report::html
