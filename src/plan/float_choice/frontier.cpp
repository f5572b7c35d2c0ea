#include "plan/float_choice/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.h"

namespace ounce::plan {
namespace {

// The range of prices of the noisiest operator, in nanoseconds. The other prices are in proportion, but at
// least kQuietest of it.
constexpr double kLowestPrice = 100, kHighestPrice = 1e12, kRise = 1.4, kQuietest = 1e-6;
constexpr double kLargeRise = 4;      // for plans whose cuts take long:
constexpr std::size_t kLarge = 1000;  // those with at least this many operators

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
  const auto add = [&](double nanoseconds) {  // price of the noisiest; false if solving takes too long
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
