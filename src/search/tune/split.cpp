#include "search/tune/split.h"

#include "evaluate/models/float_ports.h"
#include "evaluate/models/open.h"

namespace ounce::search {
namespace {

constexpr std::uint64_t kLeastToSplit = 4;

}  // namespace

Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data) {
  const auto loaded = evaluate::load_as_floats(model, evaluate::executor_options(runtime));
  const std::uint64_t samples = evaluate::open_feed(model, loaded->inputs(), data).feed->samples();
  Split split{data, data, samples, samples, samples < kLeastToSplit, loaded->library_version()};
  if (split.is_same) return split;
  split.search_samples = (samples + 1) / 2;
  split.held_out_samples = samples - split.search_samples;
  if (data.carry.empty()) {
    split.search.parts = split.held_out.parts = 2 * data.parts;
    split.held_out.part = data.part + data.parts;
    split.search.samples = split.held_out.samples = data.samples;
  } else {
    split.search.samples = split.search_samples;
    split.held_out.first = data.first + split.search_samples;
    split.held_out.samples = split.held_out_samples;
  }
  return split;
}

}  // namespace ounce::search
