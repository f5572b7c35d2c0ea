#include "evaluate/compare/worst_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "evaluate/compare/difference.h"
#include "formats/open.h"

namespace ounce::evaluate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_values(const OutputComparison& output) { return is_judged(output) && output.values != 0; }

// True if neither reference nor candidate detects anything.
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

namespace {

std::size_t product(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, [](std::size_t all, std::int64_t dim) {
    return all * static_cast<std::size_t>(dim);
  });
}

// Adds nothing for indices beyond the length of the axis, which may be shorter in this run.
void add_slice(const data::TensorView& reference, const data::TensorView& given, std::size_t axis,
               const std::vector<IndexRange>& ranges, Difference& sum) {
  const std::span<const std::int64_t> dims(reference.dims);
  if (axis >= dims.size() || static_cast<std::size_t>(dims[axis]) < ranges.back().end) return;
  const std::size_t inner = product(dims.subspan(axis + 1)), outer = product(dims.first(axis));
  const std::size_t length = static_cast<std::size_t>(dims[axis]) * inner;
  const std::span<const float> a = data::values_of<float>(reference), b = data::values_of<float>(given);
  for (std::size_t i = 0; i < outer; ++i) {
    for (const IndexRange& range : ranges) {
      const std::size_t first = i * length + range.begin * inner, count = (range.end - range.begin) * inner;
      sum.add(a.subspan(first, count), b.subspan(first, count));
    }
  }
}

}  // namespace

OutputParts::OutputParts(std::vector<data::ValueDescription> outputs,
                         const std::map<std::string, std::string>& carry,
                         const std::vector<ReferenceRun>& runs, const std::vector<std::string>& wanted)
    : outputs_(std::move(outputs)) {
  const auto counts = [&](const data::ValueDescription& output) {
    return !is_state(carry, output.name) && is_wanted(wanted, output.name);
  };
  const bool has_numbers = std::any_of(outputs_.begin(), outputs_.end(), [&](const auto& output) {
    return counts(output) && !is_label(output);
  });
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!counts(outputs_[k]) || is_label(outputs_[k]) == has_numbers) continue;
    parts_.push_back({k});
    if (outputs_[k].given() == ElementType::kFloat) find_slices(k, runs);
  }
}

void OutputParts::find_slices(std::size_t output, const std::vector<ReferenceRun>& runs) {
  SliceMeter meter;
  for (const ReferenceRun& run : runs) {
    const std::span<const float> values = data::values_of<float>(run.outputs[output]);
    meter.add(values, values, run.outputs[output].dims);
  }
  for (OutputSlice& slice : meter.slices(outputs_[output].name))
    parts_.push_back({output, slice.axis, std::move(slice.ranges)});
}

bool OutputParts::add(std::span<const data::Tensor> reference, std::span<const data::TensorView> given,
                      std::vector<Difference>& sums) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const data::Tensor& before = reference[part.output];
    const data::TensorView& after = given[part.output];
    if (before.dims != after.dims) return false;
    if (is_label(before.type, before.dims.size())) {
      if (before.type != after.type) return false;
      sums[i].add_labels(before, after);
    } else if (part.ranges.empty()) {
      sums[i].add(before, after, outputs_[part.output].name);
    } else if (before.type == after.type) {
      add_slice(before, after, part.axis, part.ranges, sums[i]);
    }
    if (sums[i].newly_not_finite != 0) return false;
  }
  return true;
}

}  // namespace ounce::evaluate
