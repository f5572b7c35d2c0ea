#include "measure/worst_output.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ounce::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_float(const OutputComparison& output) { return output.type.find("float") != std::string::npos; }

bool has_values(const OutputComparison& output) { return !output.is_state && output.values != 0; }

}  // namespace

bool is_state(const std::map<std::string, std::string>& carry, const std::string& output) {
  return std::any_of(carry.begin(), carry.end(),
                     [&](const auto& carried) { return carried.second == output; });
}

namespace {

struct Worst {
  double sqnr = kInfinity;
  const OutputSlice* slice = nullptr;
};

Worst worst_of(const std::vector<OutputComparison>& outputs) {
  const bool has_floats = std::any_of(outputs.begin(), outputs.end(), [](const OutputComparison& output) {
    return has_values(output) && is_float(output);
  });
  Worst worst;
  for (const OutputComparison& output : outputs) {
    if (!has_values(output) || is_float(output) != has_floats) continue;
    if (output.newly_not_finite != 0 || std::isnan(output.sqnr_db)) return {-kInfinity};
    if (output.sqnr_db < worst.sqnr) worst = {output.sqnr_db};
    if (!output.slices.empty() && output.slices.front().sqnr_db < worst.sqnr)
      worst = {output.slices.front().sqnr_db, output.slices.data()};
  }
  return worst;
}

}  // namespace

double worst_sqnr(const std::vector<OutputComparison>& outputs) { return worst_of(outputs).sqnr; }

const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs) {
  return worst_of(outputs).slice;
}

double worst_noise(const std::vector<OutputComparison>& outputs) {
  return std::pow(10, -worst_sqnr(outputs) / 10);
}

std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs) {
  std::optional<double> least;
  for (const OutputComparison& output : outputs) {
    if (output.is_state || !output.top1_agreement) continue;
    least = std::min(least.value_or(1), *output.top1_agreement);
  }
  return least;
}

}  // namespace ounce::measure
