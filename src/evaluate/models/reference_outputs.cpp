#include "evaluate/models/reference_outputs.h"

#include <numeric>
#include <utility>

#include "base/cancel.h"

namespace ounce {
namespace {

std::uint64_t bytes_of(const std::vector<data::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const data::Tensor& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

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

class AnsweringExecutor final : public runtime::Executor {
 public:
  AnsweringExecutor(std::unique_ptr<runtime::Executor> model, std::shared_ptr<ReferenceOutputs> kept)
      : model_(std::move(model)), kept_(std::move(kept)) {}

  const std::vector<data::ValueDescription>& inputs() const override { return model_->inputs(); }
  const std::vector<data::ValueDescription>& outputs() const override { return model_->outputs(); }
  const std::string& library_version() const override { return model_->library_version(); }
  std::optional<LoadMemory> load_memory() const override { return model_->load_memory(); }

  std::span<const data::TensorView> run(std::span<const data::TensorView> inputs) override {
    const Digest digest = digest_of_inputs(inputs);
    if (const std::vector<data::Tensor>* known = kept_->find(digest)) {
      views_.assign(known->begin(), known->end());
      return views_;
    }
    const std::span<const data::TensorView> outputs = model_->run(inputs);
    kept_->keep(digest, outputs);
    return outputs;
  }

 private:
  std::unique_ptr<runtime::Executor> model_;
  std::shared_ptr<ReferenceOutputs> kept_;
  std::vector<data::TensorView> views_;
};

}  // namespace

class ReferenceOutputs::Replay final : public runtime::Executor {
 public:
  Replay(const ReferenceOutputs& kept, std::vector<std::uint64_t> which)
      : kept_(kept), which_(std::move(which)) {}

  const std::vector<data::ValueDescription>& inputs() const override { return kept_.takes_; }
  const std::vector<data::ValueDescription>& outputs() const override { return kept_.gives_; }
  const std::string& library_version() const override { return kept_.version_; }
  std::span<const data::TensorView> run(std::span<const data::TensorView>) override {
    const std::vector<data::Tensor>& outputs = kept_.runs_.at(which_.at(next_++)).outputs;
    views_.assign(outputs.begin(), outputs.end());
    return views_;
  }

 private:
  const ReferenceOutputs& kept_;
  std::vector<std::uint64_t> which_;
  std::vector<data::TensorView> views_;
  std::size_t next_ = 0;
};

class ReferenceOutputs::Subset final : public data::Feed {
 public:
  Subset(const ReferenceOutputs& kept, std::vector<std::uint64_t> which)
      : kept_(kept), which_(std::move(which)) {}

  std::uint64_t batches() const override { return which_.size(); }
  std::uint64_t samples() const override {
    std::uint64_t count = 0;
    for (const std::uint64_t i : which_) count += kept_.runs_[i].batch.names.size();
    return count;
  }
  void read(std::uint64_t index, data::Batch& batch) override { batch = kept_.runs_[which_[index]].batch; }

 private:
  const ReferenceOutputs& kept_;
  std::vector<std::uint64_t> which_;
};

ReferenceOutputs::ReferenceOutputs(evaluate::StatefulExecutor& reference, data::Feed& feed,
                                   const std::vector<std::uint64_t>& batches, std::uint64_t most_bytes,
                                   Inputs inputs)
    : most_bytes_(most_bytes),
      takes_(reference.model().inputs()),
      gives_(reference.model().outputs()),
      version_(reference.model().library_version()) {
  for (const std::uint64_t number : batches) {
    throw_if_cancelled();
    ReferenceRun run;
    run.number = number;
    feed.read(number, run.batch);
    for (const data::TensorView& view : reference.run(run.batch)) run.outputs.push_back(data::copy_of(view));
    if (inputs == Inputs::kReadAgain) run.batch.inputs = {};
    bytes_ += bytes_of(run.batch.inputs) + bytes_of(run.outputs);
    is_cut_ = bytes_ > most_bytes_ && !runs_.empty();
    if (is_cut_) return;
    samples_ += run.batch.names.size();
    runs_.push_back(std::move(run));
  }
}

void ReferenceOutputs::replay(evaluate::StatefulExecutor& other, data::Feed& feed, const Take& take) const {
  std::vector<std::size_t> all(runs_.size());
  std::iota(all.begin(), all.end(), 0);
  replay(other, feed, all, take);
}

void ReferenceOutputs::replay(evaluate::StatefulExecutor& other, data::Feed& feed,
                              std::span<const std::size_t> which, const Take& take) const {
  data::Batch batch;
  for (const std::size_t i : which) {
    throw_if_cancelled();
    const ReferenceRun& run = runs_[i];
    const bool is_kept = !run.batch.inputs.empty();
    if (!is_kept) feed.read(run.number, batch);
    if (!take(run, other.run(is_kept ? run.batch : batch))) return;
  }
}

std::unique_ptr<data::Feed> ReferenceOutputs::feed_of(std::vector<std::uint64_t> which) const {
  return std::make_unique<Subset>(*this, std::move(which));
}

std::unique_ptr<runtime::Executor> ReferenceOutputs::reference_of(std::vector<std::uint64_t> which) const {
  return std::make_unique<Replay>(*this, std::move(which));
}

const std::vector<data::Tensor>* ReferenceOutputs::find(const Digest& inputs) const {
  const auto found = by_inputs_.find(inputs);
  return found == by_inputs_.end() ? nullptr : &found->second;
}

void ReferenceOutputs::keep(const Digest& inputs, std::span<const data::TensorView> outputs) {
  std::uint64_t bytes = 0;
  for (const data::TensorView& output : outputs) {
    bytes += output.bytes.size();
    if (output.strings == nullptr) continue;
    for (const std::string& text : *output.strings) bytes += text.size() + sizeof text;
  }
  if (bytes_ + bytes > most_bytes_) return;
  bytes_ += bytes;
  std::vector<data::Tensor>& kept = by_inputs_[inputs];
  for (const data::TensorView& output : outputs) kept.push_back(data::copy_of(output));
}

void ReferenceOutputs::use_for(const std::string& model) {
  if (model == model_) return;
  model_ = model;
  by_inputs_.clear();
  bytes_ = 0;
}

std::shared_ptr<ReferenceOutputs> keep_reference_outputs(std::uint64_t most_bytes) {
  return std::make_shared<ReferenceOutputs>(most_bytes);
}

std::unique_ptr<runtime::Executor> evaluate::answer_from(std::shared_ptr<ReferenceOutputs> kept,
                                                         std::unique_ptr<runtime::Executor> model) {
  if (kept == nullptr) return model;
  return std::make_unique<AnsweringExecutor>(std::move(model), std::move(kept));
}

}  // namespace ounce
