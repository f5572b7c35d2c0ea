#include "evaluate/compare/worst_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/open.h"

namespace ounce::evaluate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_values(const OutputComparison& output) { return is_judged(output) && output.values != 0; }

// Of a detector that finds nothing, neither in the reference nor in the candidate.
bool is_silent(const OutputComparison& output) {
  return output.silent_values == output.values && std::isnan(output.sqnr_db);
}

}  // namespace

bool is_state(const std::map<std::string, std::string>& carry, const std::string& output) {
  return std::any_of(carry.begin(), carry.end(),
                     [&](const auto& carried) { return carried.second == output; });
}

bool is_wanted(const std::vector<std::string>& outputs, const std::string& output) {
  return outputs.empty() || std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

void require_outputs(const std::vector<std::string>& wanted, const std::filesystem::path& path) {
  if (wanted.empty()) return;
  const model::ModelFilePtr model = formats::open_model(path);
  std::vector<std::string> known;
  for (const model::Port& output : model->outputs()) known.push_back(output.name);
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorCode::kUsage, fmt::format("`outputs`: the model has no output '{}'. Outputs: {}", name,
                                               fmt::join(known, ", ")));
  }
}

namespace {

struct Worst {
  double sqnr = kInfinity;
  const OutputSlice* slice = nullptr;
};

Worst worst_of(const std::vector<OutputComparison>& outputs) {
  const bool has_numbers = std::any_of(outputs.begin(), outputs.end(), [](const OutputComparison& output) {
    return has_values(output) && !output.is_label;
  });
  Worst worst;
  bool has_silent = false;
  for (const OutputComparison& output : outputs) {
    if (!has_values(output) || output.is_label == has_numbers) continue;
    has_silent = has_silent || is_silent(output);
    if (is_silent(output)) continue;
    if (output.newly_not_finite != 0 || std::isnan(output.sqnr_db)) return {-kInfinity};
    if (output.sqnr_db < worst.sqnr) worst = {output.sqnr_db};
    if (!output.slices.empty() && output.slices.front().sqnr_db < worst.sqnr)
      worst = {output.slices.front().sqnr_db, output.slices.data()};
  }
  if (has_silent && worst.sqnr == kInfinity) return {std::numeric_limits<double>::quiet_NaN()};
  return worst;
}

}  // namespace

double worst_sqnr(const std::vector<OutputComparison>& outputs) { return worst_of(outputs).sqnr; }

const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs) {
  return worst_of(outputs).slice;
}

double worst_noise(const std::vector<OutputComparison>& outputs) {
  const double decibels = worst_sqnr(outputs);
  return std::isnan(decibels) ? 0 : std::pow(10, -decibels / 10);
}

std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs) {
  std::optional<double> least;
  for (const OutputComparison& output : outputs) {
    if (!is_judged(output) || !output.top1_agreement) continue;
    least = std::min(least.value_or(1), *output.top1_agreement);
  }
  return least;
}

}  // namespace ounce::evaluate
