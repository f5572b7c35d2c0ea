#include "quantize/observation.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/cancel.h"
#include "data/source/noise_check.h"
#include "data/source/open_source.h"
#include "data/tensor.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"
#include "quantize/output_place.h"

namespace ounce::quantization {
namespace {

constexpr std::uint64_t kEnoughForHalves = 16;  // batches needed to split the data into halves

// Every `shards`-th batch of a feed.
class Shard : public data::Feed {
 public:
  Shard(data::Feed& all, std::uint64_t shard, std::uint64_t shards)
      : all_(all), shard_(shard), shards_(shards) {}
  std::uint64_t batches() const override {
    return all_.batches() > shard_ ? (all_.batches() - shard_ - 1) / shards_ + 1 : 0;
  }
  std::uint64_t samples() const override { return batches(); }
  void read(std::uint64_t index, data::Batch& batch) override { all_.read(shard_ + index * shards_, batch); }

 private:
  data::Feed& all_;
  std::uint64_t shard_, shards_;
};

// The samples of a shard.
std::optional<calibration::Coverage> coverage_of(const evaluate::OpenFeed& open,
                                                 const CalibrateOptions& options) {
  if (open.data == nullptr) return std::nullopt;
  const data::DataFeed::Choice choice = open.data->choice();
  calibration::Coverage coverage(data::fingerprint_of(options.data), choice.size, choice.begin, choice.end);
  const std::uint64_t samples = open.feed->samples();
  for (std::uint64_t batch = options.shard; batch < open.feed->batches(); batch += options.shards) {
    const std::uint64_t begin = batch * choice.batch, count = std::min(choice.batch, samples - begin);
    coverage.add(calibration::SampleRun{choice.first + begin * choice.step, choice.step, count});
  }
  return coverage;
}

struct Channels {
  std::size_t count = 1, stride = 1;

  Channels(const data::Dims& dims, model::Layout layout) {
    if (dims.empty()) return;
    const std::size_t axis = model::channel_axis(layout, dims.size());
    count = static_cast<std::size_t>(dims[axis]);
    for (std::size_t i = axis + 1; i < dims.size(); ++i) stride *= static_cast<std::size_t>(dims[i]);
  }
};

// A value of one run that is added to its statistics.
struct SeenValue {
  const model::Exposed::Value* watched = nullptr;
  data::TensorView value;
  calibration::Statistics* statistics = nullptr;

  void add() const {
    std::vector<float> converted;
    const std::span<const float> floats = data::floats_of(value, converted, watched->name);
    if (!watched->layout) return statistics->add(floats);
    const Channels channels(value.dims, *watched->layout);
    statistics->add(floats, channels.count, channels.stride);
  }
};

// Collects the watched numeric values. Values of a branch that did not run are missing.
void collect(const std::vector<data::ValueDescription>& descriptions,
             std::span<const data::TensorView> values, const model::Exposed& model,
             std::vector<SeenValue>& seen) {
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    const auto watched = model.values.find(descriptions[i].name);
    if (watched == model.values.end() || values[i].bytes.empty()) continue;
    if (is_float_weight_type(values[i].type)) seen.push_back({&watched->second, values[i], nullptr});
  }
}

}  // namespace

void require_observable(const CalibrateOptions& options, const std::filesystem::path& path) {
  if (options.shards == 0 || options.shard >= options.shards)
    throw Error(ErrorCode::kUsage,
                fmt::format("shard {} of {} does not exist", options.shard, options.shards));
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "calibration needs real data: give `data`", path.string());
  if (options.shards > 1 && !options.data.carry.empty()) {
    throw Error(ErrorCode::kUsage,
                "`carry` and `shards` exclude each other: a recurrent state needs all samples in order");
  }
}

namespace {

// Runs the model on the data once and adds each value to its statistics.
Observation observe(const std::filesystem::path& path, const model::Exposed& model,
                    const CalibrateOptions& options) {
  evaluate::StatefulExecutor stepper(runtime::load(model.model, evaluate::executor_options(options.runtime)),
                                     options.data.carry);
  const evaluate::OpenFeed open = evaluate::open_feed(path, stepper.model().inputs(), options.data);
  Shard shard(*open.feed, options.shard, options.shards);
  if (options.progress != nullptr) {
    options.progress->done = 0;
    options.progress->total = shard.batches();
    options.progress->stage = "observing";
  }
  calibration::Ranges ranges, half;
  const bool has_halves = shard.batches() >= kEnoughForHalves && options.data.carry.empty();
  std::uint64_t number = 0;
  ThreadPool pool;
  std::vector<SeenValue> seen;
  data::NoiseCheck noise(stepper.model().inputs());
  evaluate::Prefetch batches(shard);
  while (const data::Batch* batch = batches.next()) {
    throw_if_cancelled();
    seen.clear();
    noise.add(batch->inputs);
    collect(stepper.model().inputs(),
            std::vector<data::TensorView>(batch->inputs.begin(), batch->inputs.end()), model, seen);
    collect(stepper.model().outputs(), stepper.run(*batch), model, seen);
    calibration::Ranges& those = has_halves && number++ % 2 == 0 ? half : ranges;
    for (SeenValue& value : seen) value.statistics = &those.values[value.watched->name];
    pool.for_each(seen.size(), [&](std::size_t i) { seen[i].add(); });
    those.samples += batch->names.size();
    if (options.progress != nullptr) ++options.progress->done;
  }
  if (open.data != nullptr) open.data->require_agreement();

  Observation observed{std::move(ranges), std::nullopt, open.feed->notes(), coverage_of(open, options)};
  for (std::string& note : noise.notes()) observed.notes.push_back(std::move(note));
  if (!has_halves) return observed;
  observed.ranges.add(half, path.string());
  observed.half = std::move(half);
  return observed;
}

}  // namespace

Observation observe_activations(const model::Exposed& model, const std::filesystem::path& path,
                                const CalibrateOptions& options) {
  require_observable(options, path);
  try {
    return observe(path, model, options);
  } catch (const Error& error) {
    // Report the user's path, not the temporary copy's.
    throw Error(error.code(), renamed(error.what(), model.model, path));
  }
}

namespace {

// The output part with the largest noise-to-signal ratio.
std::size_t worst_part(const std::vector<std::vector<evaluate::Difference>>& noise) {
  std::size_t worst = 0;
  double most = 0;
  for (std::size_t k = 0; k < noise.front().size(); ++k) {
    evaluate::Difference sum;
    for (const auto& run : noise) sum.add(run[k]);
    const double here = sum.squared > 0 ? sum.squared / sum.reference : 0;
    if (here <= most) continue;
    most = here;
    worst = k;
  }
  return worst;
}

}  // namespace

std::vector<std::size_t> informative_samples(const std::vector<std::vector<evaluate::Difference>>& noise,
                                             std::size_t runs, std::size_t count, bool is_state_carried) {
  std::vector<std::size_t> all(runs);
  std::iota(all.begin(), all.end(), 0);
  if (count >= runs) return all;
  if (is_state_carried) return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  std::vector<std::size_t> chosen;
  if (noise.size() == runs && !noise.front().empty()) {
    const std::size_t part = worst_part(noise);
    std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      return noise[a][part].squared > noise[b][part].squared;
    });
    const auto half = all.begin() + static_cast<std::ptrdiff_t>(count / 2);
    chosen.assign(all.begin(), half);
    all.erase(all.begin(), half);
    std::sort(all.begin(), all.end());
  }
  for (const std::uint64_t i : evaluate::evenly_spaced(all.size(), count - chosen.size(), false))
    chosen.push_back(all[i]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

namespace {

constexpr std::size_t kSpan = 4096, kSpans = 256;  // values per contiguous read, number of reads

// A histogram of one distinct value has a single bin.
ValueHistogram empty_histogram(double low, double high) {
  return {low, high, std::vector<std::uint64_t>(high > low ? ValueHistogram::kBins : 1)};
}

std::size_t bin_of(const ValueHistogram& histogram, double value) {
  if (histogram.counts.size() == 1) return 0;
  const double place = (value - histogram.low) / (histogram.high - histogram.low);
  const auto bins = static_cast<double>(histogram.counts.size());
  return static_cast<std::size_t>(std::clamp(place * bins, 0.0, bins - 1));
}

std::vector<float> spread_values(const quant::FloatSource& weight) {
  std::vector<float> all, scratch;
  const std::size_t spans = std::min(kSpans, (weight.size() + kSpan - 1) / kSpan);
  for (std::size_t i = 0; i < spans; ++i) {
    const std::size_t first = spans == kSpans ? i * (weight.size() / kSpans) : i * kSpan;
    const std::size_t count = std::min(kSpan, weight.size() - first);
    const std::byte* bytes = weight.values(first, count, scratch);
    const std::size_t before = all.size();
    all.resize(before + count);
    std::memcpy(all.data() + before, bytes, count * sizeof(float));
  }
  std::erase_if(all, [](float value) { return !std::isfinite(value); });
  return all;
}

}  // namespace

ValueHistogram histogram_of(const quant::FloatSource& weight) {
  const std::vector<float> values = spread_values(weight);
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  ValueHistogram histogram = empty_histogram(*low, *high);
  for (const float value : values) ++histogram.counts[bin_of(histogram, value)];
  return histogram;
}

ValueHistogram histogram_of(const calibration::Statistics& value, const ValueRange& range) {
  if (value.count() == 0) return {};
  ValueHistogram histogram = empty_histogram(value.minimum(), value.maximum());
  std::uint64_t clipped = 0;
  for (const calibration::Histogram::Bin& bin : value.histogram().bins()) {
    histogram.counts[bin_of(histogram, bin.middle())] += bin.count;
    // Bins across a limit count as inside, so that the extremes of the data do not count as clipped.
    if (bin.high < range.low || bin.low > range.high) clipped += bin.count;
  }
  histogram.clipped_share = static_cast<double>(clipped) / static_cast<double>(value.count());
  return histogram;
}

}  // namespace ounce::quantization
