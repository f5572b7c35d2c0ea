#include "evaluate/models/reference_outputs.h"

#include <numeric>
#include <utility>

#include "base/cancel.h"

namespace ounce::evaluate {
namespace {

Digest digest_of_inputs(std::span<const data::TensorView> inputs) {
  std::vector<Digest> parts;
  for (const data::TensorView& input : inputs) {
    parts.push_back(digest_of(data::describe(input.type, input.dims)));
    parts.push_back(digest_of(input.bytes));
    if (input.strings == nullptr) continue;
    for (const std::string& text : *input.strings) parts.push_back(digest_of(text));
  }
  return digest_of(parts);
}

class RememberingExecutor final : public runtime::Executor {
 public:
  RememberingExecutor(std::unique_ptr<runtime::Executor> model, std::shared_ptr<RememberedRuns> runs)
      : model_(std::move(model)), runs_(std::move(runs)) {}

  const std::vector<data::ValueDescription>& inputs() const override { return model_->inputs(); }
  const std::vector<data::ValueDescription>& outputs() const override { return model_->outputs(); }
  const std::string& library_version() const override { return model_->library_version(); }
  std::optional<LoadMemory> load_memory() const override { return model_->load_memory(); }

  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    const Digest digest = digest_of_inputs(inputs);
    if (const std::vector<data::Tensor>* known = runs_->find(digest)) {
      views_.assign(known->begin(), known->end());
      return views_;
    }
    const std::span<const data::TensorView> outputs = model_->run(inputs);
    runs_->keep(digest, outputs);
    return outputs;
  }

 private:
  std::unique_ptr<runtime::Executor> model_;
  std::shared_ptr<RememberedRuns> runs_;
  std::vector<data::TensorView> views_;
};

}  // namespace

const std::vector<data::Tensor>* RememberedRuns::find(const Digest& inputs) const {
  const auto found = runs_.find(inputs);
  return found == runs_.end() ? nullptr : &found->second;
}

void RememberedRuns::keep(const Digest& inputs, std::span<const data::TensorView> outputs) {
  std::uint64_t bytes = 0;
  for (const data::TensorView& output : outputs) {
    bytes += output.bytes.size();
    if (output.strings == nullptr) continue;
    for (const std::string& text : *output.strings) bytes += text.size() + sizeof text;
  }
  if (bytes > most_bytes_ - bytes_) return;
  bytes_ += bytes;
  std::vector<data::Tensor>& kept = runs_[inputs];
  for (const data::TensorView& output : outputs) kept.push_back(data::copy_of(output));
}

void RememberedRuns::use_for(const std::string& model) {
  if (model == model_) return;
  model_ = model;
  runs_.clear();
  bytes_ = 0;
}

std::unique_ptr<runtime::Executor> remember(std::unique_ptr<runtime::Executor> model,
                                            std::shared_ptr<RememberedRuns> runs) {
  if (runs == nullptr) return model;
  return std::make_unique<RememberingExecutor>(std::move(model), std::move(runs));
}

namespace {

std::uint64_t bytes_of(const std::vector<data::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const data::Tensor& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

}  // namespace

KeptRuns::KeptRuns(Stepper& original, data::Feed& feed, const std::vector<std::uint64_t>& batches,
                   std::uint64_t most_bytes, Inputs inputs) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t number : batches) {
    throw_if_cancelled();
    KeptRun run;
    run.number = number;
    feed.read(number, run.batch);
    for (const data::TensorView& view : original.run(run.batch)) run.outputs.push_back(data::copy_of(view));
    if (inputs == Inputs::kReadAgain) run.batch.inputs = {};
    bytes += bytes_of(run.batch.inputs) + bytes_of(run.outputs);
    is_cut_ = bytes > most_bytes && !runs_.empty();
    if (is_cut_) return;
    samples_ += run.batch.names.size();
    runs_.push_back(std::move(run));
  }
}

void KeptRuns::replay(Stepper& other, data::Feed& feed, const Take& take) const {
  std::vector<std::size_t> all(runs_.size());
  std::iota(all.begin(), all.end(), 0);
  replay(other, feed, all, take);
}

void KeptRuns::replay(Stepper& other, data::Feed& feed, std::span<const std::size_t> which,
                      const Take& take) const {
  data::Batch batch;
  for (const std::size_t i : which) {
    throw_if_cancelled();
    const KeptRun& run = runs_[i];
    const bool is_kept = !run.batch.inputs.empty();
    if (!is_kept) feed.read(run.number, batch);
    if (!take(run, other.run(is_kept ? run.batch : batch))) return;
  }
}

}  // namespace ounce::evaluate
