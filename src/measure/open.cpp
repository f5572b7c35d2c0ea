#include "measure/open.h"

#include "data/model_contract.h"
#include "graph/verify.h"
#include "measure/generate.h"
#include "onnx/reader.h"

namespace ounce::measure {

runtime::ExecutorOptions executor_options(const RuntimeOptions& options) {
  runtime::ExecutorOptions made;
  made.library = options.library;
  made.session.threads = options.threads;
  made.session.threads_between = options.threads_between;
  made.session.optimization = static_cast<runtime::Optimization>(options.optimization);
  made.session.config = options.config;
  // A remote side has its own patience.
  if (options.isolate && !options.remote)
    made.isolate = runtime::Limits{options.isolate->memory, options.isolate->seconds};
  made.remote = options.remote;
  return made;
}

ModelFiles check_model(const std::filesystem::path& path) {
  const onnx::Model model = onnx::read_model(path);
  try {
    graph::verify(model);
  } catch (const Error& error) {  // one of several models: which one?
    if (std::string_view(error.what()).starts_with(path.string())) throw;
    throw Error(error.code(), error.what(), path.string());
  }
  ModelFiles files{onnx::bytes_of(model), {path}};
  for (const auto& [location, file] : model.external_files) files.paths.push_back(file.path());
  return files;
}

void require_loadable(const std::filesystem::path& model, const RuntimeOptions& options) {
  runtime::ExecutorOptions how = executor_options(options);
  const Isolation usual;
  if (!how.isolate) how.isolate = runtime::Limits{usual.memory, usual.seconds};
  runtime::load(model, how);
}

OpenFeed open_feed(const std::filesystem::path& model, const std::vector<data::ValueDescription>& inputs,
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

}  // namespace ounce::measure
