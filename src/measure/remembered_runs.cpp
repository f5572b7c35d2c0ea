#include "measure/remembered_runs.h"

#include <utility>

namespace ounce::measure {
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

}  // namespace ounce::measure
