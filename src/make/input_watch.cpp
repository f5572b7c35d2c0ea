#include "make/input_watch.h"

#include <algorithm>

#include "base/cancel.h"
#include "data/convert.h"
#include "measure/spread.h"
#include "onnx/write_temporary.h"

namespace ounce::make {
namespace {

constexpr std::uint64_t kMostWatchedBatches = 128;
constexpr std::uint64_t kWatchedRows = 8192;  // of each op's inputs, over all batches

}  // namespace

InputWatch::InputWatch(const PreparedModel& prepared, const QuantizeOptions& options,
                       const std::vector<passes::ObservedValue>& values, ThreadPool& pool) {
  onnx::Model model = prepared.read();
  const graph::Index index(model);
  std::vector<passes::ObservedValue> once = values;
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (const passes::Exposed& exposed : passes::expose_values(model, index, once)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == exposed.value) by_output_[exposed.output].push_back(i);
    }
  }
  const std::filesystem::path path = folder_.path() / "model.onnx";
  onnx::write_temporary(model, path, pool);
  RuntimeOptions how;
  how.library = options.trial.runtime.library;
  how.isolate = options.trial.runtime.isolate;
  const DataOptions& data = options.trial.data;
  stepper_ =
      std::make_unique<measure::Stepper>(runtime::load(path, measure::executor_options(how)), data.carry);
  open_ = measure::open_feed(prepared.source(), stepper_->model().inputs(), data);
  batches_ = measure::spread(open_.feed->batches(), kMostWatchedBatches, !data.carry.empty());
}

std::size_t InputWatch::rows_per_batch() const {
  const std::uint64_t batches = std::max<std::uint64_t>(1, batches_.size());
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, kWatchedRows / batches));
}

void InputWatch::run(const std::function<void(std::size_t, const SeenInput&)>& see) {
  data::Batch batch;
  const auto show = [&](const std::vector<data::ValueDescription>& descriptions,
                        std::span<const data::TensorView> values) {
    for (std::size_t i = 0; i < descriptions.size(); ++i) {
      const auto found = by_output_.find(descriptions[i].name);
      if (found == by_output_.end() || values[i].bytes.empty()) continue;
      std::vector<float> converted;
      const auto floats = data::floats_of(values[i], converted, descriptions[i].name);
      for (const std::size_t value : found->second) see(value, {floats, values[i].dims, batch.names.size()});
    }
  };
  for (const std::uint64_t i : batches_) {
    throw_if_cancelled();
    open_.feed->read(i, batch);
    show(stepper_->model().inputs(), std::vector<data::TensorView>(batch.inputs.begin(), batch.inputs.end()));
    show(stepper_->model().outputs(), stepper_->run(batch));
  }
}

}  // namespace ounce::make
