#include <fmt/format.h>
#include <ounce/calibrate.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "api/calibrate_file.h"
#include "api/runtime.h"
#include "api/source_digest.h"
#include "base/cancel.h"
#include "base/stopwatch.h"
#include "base/temporary_folder.h"
#include "data/convert.h"
#include "graph/verify.h"
#include "measure/prefetch.h"
#include "measure/stepper.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/expose_values.h"

namespace ounce {
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
    if (values.empty())
      throw Error(ErrorCode::kUnsupported, "nothing in this model has a range to observe", source.string());
    digest = api::source_digest(model, {}, pool);
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

}  // namespace

CalibrateResult calibrate(const std::filesystem::path& path, const std::filesystem::path& output,
                          const CalibrateOptions& options) {
  const Stopwatch time;
  if (options.shards == 0 || options.shard >= options.shards)
    throw Error(ErrorCode::kUsage, fmt::format("there is no shard {} of {}", options.shard, options.shards));
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "calibration needs real data: give --data", path.string());
  if (options.shards > 1 && !options.data.carry.empty())
    throw Error(ErrorCode::kUsage,
                "a state goes from sample to sample: --carry and --shard exclude each other");

  // Observe: one pass over the data, each value added up as it comes.
  const ObservableModel model(path);
  measure::Stepper stepper(runtime::load(model.path, api::executor_options(options.runtime)),
                           options.data.carry);
  const api::OpenFeed open = api::open_feed(path, stepper.model().inputs(), options.data);
  Shard shard(*open.feed, options.shard, options.shards);
  if (options.progress != nullptr) {
    options.progress->total = shard.batches();
    options.progress->stage = "observing";
  }
  observe::Ranges ranges;
  ranges.model = model.digest;
  std::vector<float> converted;
  const std::vector<data::ValueDescription>& outputs = stepper.model().outputs();
  const auto add = [&](const std::string& name, const data::TensorView& value) {
    if (!onnx::is_float_weight_type(value.type) ||
        !std::binary_search(model.values.begin(), model.values.end(), name))
      return;
    const Channels channels(value.dims);
    ranges.values[name].add(data::floats_of(value, converted, name), channels.count, channels.stride);
  };
  measure::Prefetch batches(shard);
  while (const data::Batch* batch = batches.next()) {
    throw_if_cancelled();
    const auto given = stepper.run(*batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) add(outputs[i].name, given[i]);
    for (std::size_t i = 0; i < batch->inputs.size(); ++i) {
      const bool is_output = std::any_of(outputs.begin(), outputs.end(), [&](const auto& other) {
        return other.name == stepper.model().inputs()[i].name;
      });
      if (!is_output) add(stepper.model().inputs()[i].name, batch->inputs[i]);
    }
    ranges.samples += batch->names.size();
    if (options.progress != nullptr) ++options.progress->done;
  }
  if (open.data != nullptr) open.data->require_agreement();

  CalibrateResult result = api::write_ranges(ranges, output);
  const std::vector<std::string> notes = open.feed->notes();
  result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
  result.seconds = time.seconds();
  return result;
}

}  // namespace ounce
