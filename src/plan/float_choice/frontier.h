// Computes the Pareto front of time and noise, from the fastest assignment to the one with all operators in
// FP32. The noise that an operator adds to the outputs in INT8 is converted to a cost in time. Each higher
// conversion factor moves more operators to FP32, in groups that share quantize and dequantize ops.
//
//   const std::vector<Division> found = frontier({{0, 0.01}, {3, 0.2}}, [&](const Prices& prices) {
//     …                                             // a minimum cut with these additional costs of INT8
//   });
//   found[0]   the fastest      found.back()   all operators with noise in FP32
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ounce::plan {

// Cost per vertex: noise, or nanoseconds. Infinite: the vertex is kept in FP32.
using Prices = std::vector<std::pair<std::size_t, double>>;

struct Division {
  std::vector<bool> is_float;  // by vertex
  double time = 0;             // nanoseconds per sample, without the prices

  bool operator==(const Division&) const = default;
};

// The same with operators named by their outputs: the options of a search.
struct NamedDivision {
  std::set<std::string> floats;
  double time = 0;
};

// Returns nothing if the computation would take too long.
using Divide = std::function<std::optional<Division>(const Prices& prices)>;

// The distinct divisions in order of rising price.
std::vector<Division> frontier(const Prices& noise, const Divide& divide);
// True if an operator with a finite price remains in INT8.
bool leaves_integers(const Division& division, const Prices& noise);

}  // namespace ounce::plan
