#include "evaluate/models/open.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/machine.h"
#include "data/contract/contract_file.h"
#include "evaluate/models/generate.h"
#include "formats/open.h"
#include "runtime/places.h"

namespace ounce::evaluate {

runtime::ExecutorOptions executor_options(const RuntimeOptions& options) {
  runtime::ExecutorOptions made;
  made.library = options.library;
  made.litert = options.litert;
  made.settings = runtime::settings_of(options);
  // A remote side has its own patience.
  if (options.isolate && !options.remote)
    made.isolate = runtime::Limits{options.isolate->memory, options.isolate->seconds};
  made.remote = options.remote;
  return made;
}

ModelFiles check_model(const std::filesystem::path& path) {
  const model::ModelFilePtr model = formats::open_model(path);
  try {
    model->validate();
  } catch (const Error& error) {  // one of several models: which one?
    if (std::string_view(error.what()).starts_with(path.string())) throw;
    throw Error(error.code(), error.what(), path.string());
  }
  return {model->bytes(), model->files()};
}

std::string runtimes_of(const std::vector<std::pair<std::filesystem::path, std::string>>& versions) {
  std::vector<std::string> runtimes;
  for (const auto& [model, version] : versions) {
    std::string runtime = fmt::format("{} {}", runtime::runtime_of(runtime::kind_to_run(model)), version);
    if (std::find(runtimes.begin(), runtimes.end(), runtime) == runtimes.end())
      runtimes.push_back(std::move(runtime));
  }
  return fmt::format("{}", fmt::join(runtimes, " and "));
}

void require_loadable(const std::filesystem::path& model, const RuntimeOptions& options) {
  runtime::ExecutorOptions how = executor_options(options);
  const Isolation usual;
  if (!how.isolate) how.isolate = runtime::Limits{usual.memory, usual.seconds};
  runtime::load(model, how);
}

OpenFeed open_feed(const std::filesystem::path& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options) {
  return open_feed(*formats::open_model(model), inputs, options);
}

OpenFeed open_feed(const model::ModelFile& model, const std::vector<data::ValueDescription>& inputs,
                   const DataOptions& options) {
  OpenFeed open;
  open.options = options;
  if (!open.options.contract) open.options.contract = data::contract_in(model);
  if (options.is_generated()) {
    open.feed = std::make_unique<GeneratedFeed>(model, inputs, open.options);
  } else {
    auto feed = std::make_unique<data::DataFeed>(inputs, open.options);
    open.data = feed.get();
    open.feed = std::move(feed);
  }
  return open;
}

namespace {

std::size_t find(const std::vector<data::ValueDescription>& values, const std::string& name,
                 const char* kind) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name == name; });
  if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(value.name);
  throw Error(ErrorCode::kUsage, fmt::format("`carry`: the model has no {} '{}'; it has {}", kind, name,
                                             fmt::join(names, ", ")));
}

}  // namespace

StatefulExecutor::StatefulExecutor(std::unique_ptr<runtime::Executor> model,
                                   const std::map<std::string, std::string>& carry)
    : model_(std::move(model)) {
  for (const auto& [input, output] : carry) {
    const std::size_t to = find(model_->inputs(), input, "input"),
                      from = find(model_->outputs(), output, "output");
    if (model_->inputs()[to].element != model_->outputs()[from].element) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("`carry`: '{}' and '{}' have different types", input, output));
    }
    carried_.push_back({to, from, {}});
  }
}

std::span<const data::TensorView> StatefulExecutor::run(const data::Batch& batch) {
  inputs_.assign(batch.inputs.begin(), batch.inputs.end());
  if (!batch.starts_sequence) {
    for (const Carried& carried : carried_) {
      // Whoever begins in the middle of a sequence begins with the batch's own state.
      if (carried.state.type != ElementType::kUndefined) inputs_[carried.input] = carried.state;
    }
  }
  const Stopwatch time;
  const std::span<const data::TensorView> outputs = model_->run(inputs_);
  seconds_ += time.seconds();
  for (Carried& carried : carried_) carried.state = data::copy_of(outputs[carried.output]);
  return outputs;
}

}  // namespace ounce::evaluate
