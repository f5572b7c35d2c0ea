// The trade-off between time and noise, from the fastest assignment to the one with all operators in FP32.
// The noise that an operator brings to the outputs in INT8 has a price in time; each higher price moves more
// operators to FP32, in groups that share their conversions.
//
//   const std::vector<Division> found = frontier({{0, 0.01}, {3, 0.2}}, [&](const Prices& prices) {
//     …                                             // a minimum cut with these costs of INT8 besides
//   });
//   found[0]   the fastest      found.back()   all that have a price in FP32
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ounce::plan {

// Of vertices: noise, or nanoseconds. Infinite: it stays in FP32.
using Prices = std::vector<std::pair<std::size_t, double>>;

struct Division {
  std::vector<bool> is_float;  // by vertex
  double time = 0;             // nanoseconds for a sample, without the prices

  bool operator==(const Division&) const = default;
};

// The same by the names of what operators give: the choices that a search has.
struct NamedDivision {
  std::set<std::string> floats;
  double time = 0;
};

// Nothing when that would take too long to find.
using Divide = std::function<std::optional<Division>(const Prices& prices)>;

// Divisions that differ, by rising price.
std::vector<Division> frontier(const Prices& noise, const Divide& divide);
// Does it leave an operator in INT8 that has a finite price?
bool leaves_integers(const Division& division, const Prices& noise);

}  // namespace ounce::plan
