#include "plan/float_choice/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.h"

namespace ounce::plan {
namespace {

// Prices of the noisiest operator, in nanoseconds, that assignments are found for; the quietest have so much
// of it at least.
constexpr double kLowestPrice = 100, kHighestPrice = 1e12, kRise = 1.4, kQuietest = 1e-6;
constexpr double kLargeRise = 4;      // where each takes long: in plans …
constexpr std::size_t kLarge = 1000;  // … with so many operators

}  // namespace

bool leaves_integers(const Division& division, const Prices& noise) {
  return std::any_of(noise.begin(), noise.end(), [&](const auto& entry) {
    return std::isfinite(entry.second) && !division.is_float[entry.first];
  });
}

std::vector<Division> frontier(const Prices& noise, const Divide& divide) {
  double most = 0;
  for (const auto& [vertex, of_it] : noise) most = std::max(most, std::isfinite(of_it) ? of_it : 0);
  std::vector<Division> found;
  const auto add = [&](double nanoseconds) {  // that the noisiest costs; false when that is too hard
    throw_if_cancelled();
    Prices prices = noise;
    for (auto& [vertex, price] : prices) {
      if (std::isfinite(price)) price = nanoseconds * std::max(most > 0 ? price / most : 1, kQuietest);
    }
    const std::optional<Division> division = divide(prices);
    if (division && (found.empty() || division->is_float != found.back().is_float))
      found.push_back(*division);
    return division.has_value();
  };
  if (!add(0)) return {};
  const double rise = noise.size() < kLarge ? kRise : kLargeRise;
  for (double price = kLowestPrice; price < kHighestPrice && leaves_integers(found.back(), noise);
       price *= rise) {
    if (!add(price)) break;
  }
  add(std::numeric_limits<double>::infinity());
  return found;
}

}  // namespace ounce::plan
