#include "api/observation.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "api/runtime.h"
#include "api/source_digest.h"
#include "base/cancel.h"
#include "base/temporary_folder.h"
#include "data/convert.h"
#include "graph/verify.h"
#include "measure/prefetch.h"
#include "measure/stepper.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/expose_values.h"

namespace ounce::api {
namespace {

// Every shards-th batch of a feed.
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

// The model with its inner values as outputs, in a folder that goes away.
struct ObservableModel {
  TemporaryFolder folder{"calibrate"};
  std::filesystem::path path = folder.path() / "model.onnx";
  std::vector<std::string> values;
  std::string digest;

  explicit ObservableModel(const std::filesystem::path& source) {
    ThreadPool pool;
    onnx::Model model = onnx::read_model(source);
    const graph::Index index = graph::verify(model);
    values = passes::values_to_observe(model, index);
    if (values.empty()) {
      throw Error(
          ErrorCode::kUnsupported,
          "nothing in its main graph has a range to observe (what is inside of If and Loop cannot be seen)",
          source.string());
    }
    digest = source_digest(model, {}, pool);
    passes::expose_values(model, values);
    onnx::ModelOutput output(model, path, {ExternalData::kAuto, "0"});
    output.write(pool, nullptr);
    output.commit();
  }
};

// Where the channels of an activation are: the second axis of [N,C,…], the last one of [N,T,C] and [N,C].
struct Channels {
  std::size_t count = 1, stride = 1;

  explicit Channels(const data::Dims& dims) {
    const std::size_t axis = dims.size() >= 4 ? 1 : dims.empty() ? 0 : dims.size() - 1;
    if (dims.empty()) return;
    count = static_cast<std::size_t>(dims[axis]);
    for (std::size_t i = axis + 1; i < dims.size(); ++i) stride *= static_cast<std::size_t>(dims[i]);
  }
};

// One value of one run, on its way into its statistics.
struct SeenValue {
  std::string name;
  data::TensorView value;
  observe::Statistics* statistics = nullptr;

  void add() const {
    const Channels channels(value.dims);
    std::vector<float> converted;
    statistics->add(data::floats_of(value, converted, name), channels.count, channels.stride);
  }
};

// Those of `values` that are to be observed, and are numbers.
void collect(const std::vector<data::ValueDescription>& descriptions,
             std::span<const data::TensorView> values, const std::vector<std::string>& wanted,
             std::vector<SeenValue>& seen) {
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    const bool is_wanted = std::binary_search(wanted.begin(), wanted.end(), descriptions[i].name);
    if (is_wanted && onnx::is_float_weight_type(values[i].type))
      seen.push_back({descriptions[i].name, values[i], nullptr});
  }
}

}  // namespace

Observation observe_activations(const std::filesystem::path& path, const CalibrateOptions& options) {
  if (options.shards == 0 || options.shard >= options.shards)
    throw Error(ErrorCode::kUsage, fmt::format("there is no shard {} of {}", options.shard, options.shards));
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "calibration needs real data: give --data", path.string());
  if (options.shards > 1 && !options.data.carry.empty()) {
    throw Error(ErrorCode::kUsage,
                "a state goes from sample to sample: --carry and --shard exclude each other");
  }

  // Observe: one pass over the data, each value added up as it comes.
  const ObservableModel model(path);
  measure::Stepper stepper(runtime::load(model.path, executor_options(options.runtime)),
                           options.data.carry);
  const OpenFeed open = open_feed(path, stepper.model().inputs(), options.data);
  Shard shard(*open.feed, options.shard, options.shards);
  if (options.progress != nullptr) {
    options.progress->total = shard.batches();
    options.progress->stage = "observing";
  }
  observe::Ranges ranges;
  ranges.model = model.digest;
  ThreadPool pool;
  std::vector<SeenValue> seen;
  measure::Prefetch batches(shard);
  while (const data::Batch* batch = batches.next()) {
    throw_if_cancelled();
    seen.clear();
    collect(stepper.model().inputs(),
            std::vector<data::TensorView>(batch->inputs.begin(), batch->inputs.end()), model.values, seen);
    collect(stepper.model().outputs(), stepper.run(*batch), model.values, seen);
    for (SeenValue& value : seen) value.statistics = &ranges.values[value.name];
    pool.for_each(seen.size(), [&](std::size_t i) { seen[i].add(); });
    ranges.samples += batch->names.size();
    if (options.progress != nullptr) ++options.progress->done;
  }
  if (open.data != nullptr) open.data->require_agreement();

  return {std::move(ranges), open.feed->notes()};
}

}  // namespace ounce::api
