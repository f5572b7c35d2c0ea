#include "search/tune/split.h"

#include <algorithm>

#include "evaluate/models/dequantized_io.h"
#include "evaluate/models/open.h"

namespace ounce::search {
namespace {

constexpr std::uint64_t kLeastToSplit = 4;

// `begin`, `step`: every `step`-th sample from there on. Of a sequence: `size` samples from `begin` on.
DataPart part_of(const DataOptions& data, std::uint64_t begin, std::uint64_t step, std::uint64_t size,
                 std::uint64_t most) {
  DataPart part{data, 0};
  most = std::max<std::uint64_t>(most, 1);
  if (!data.carry.empty()) {
    part.data.first = data.first + begin;
    part.samples = part.data.samples = std::min(size, most);
    return part;
  }
  const std::uint64_t stride = size / most + (size % most != 0 ? 1 : 0);
  part.data.parts = data.parts * step * stride;
  part.data.part = data.part + begin * data.parts;
  part.samples = (size + stride - 1) / stride;
  return part;
}

}  // namespace

DataPart fit_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most) {
  if (samples < 2) return {data, samples};
  return part_of(data, 0, 2, (samples + 1) / 2, most);
}

DataPart judge_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most) {
  if (samples < 2) return {data, samples};
  return part_of(data, data.carry.empty() ? 1 : (samples + 1) / 2, 2, samples / 2, most);
}

DataPart evenly_spaced(const DataOptions& data, std::uint64_t samples, std::uint64_t most) {
  if (samples < 2) return {data, samples};
  return part_of(data, 0, 1, samples, most);
}

Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data) {
  const auto loaded = evaluate::load_as_floats(model, evaluate::executor_options(runtime));
  const std::uint64_t samples = evaluate::open_feed(model, loaded->inputs(), data).feed->samples();
  const DataPart all{data, samples};
  if (samples < kLeastToSplit) return {all, all, true, loaded->library_version()};
  return {fit_split(data, samples), judge_split(data, samples), false, loaded->library_version()};
}

}  // namespace ounce::search
