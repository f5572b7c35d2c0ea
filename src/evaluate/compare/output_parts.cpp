#include "evaluate/compare/output_parts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "evaluate/compare/slices.h"
#include "evaluate/compare/worst_output.h"

namespace ounce::evaluate {
namespace {

std::span<const float> floats_of(const data::TensorView& view) {
  return {reinterpret_cast<const float*>(view.bytes.data()), view.bytes.size() / sizeof(float)};
}

std::size_t product(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, [](std::size_t all, std::int64_t dim) {
    return all * static_cast<std::size_t>(dim);
  });
}

// Nothing where the axis is shorter here than where the slice was found.
void add_slice(const data::TensorView& reference, const data::TensorView& given, std::size_t axis,
               const std::vector<IndexRange>& ranges, Difference& sum) {
  const std::span<const std::int64_t> dims(reference.dims);
  if (axis >= dims.size() || static_cast<std::size_t>(dims[axis]) < ranges.back().end) return;
  const std::size_t inner = product(dims.subspan(axis + 1)), outer = product(dims.first(axis));
  const std::size_t length = static_cast<std::size_t>(dims[axis]) * inner;
  const std::span<const float> a = floats_of(reference), b = floats_of(given);
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
    const std::span<const float> values = floats_of(run.outputs[output]);
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
