#include <utility>

#include "app/load_checks.h"
#include "app/loaded_model.h"
#include "runtime/ort/bound_run.h"
#include "runtime/ort/session.h"

namespace ounce::app {
namespace {

class OrtRun final : public ModelRun {
 public:
  explicit OrtRun(const runtime::Session& session) : run_(session) {}

  void bind(std::span<const data::TensorView> inputs) override { run_.bind(inputs); }
  void run() override { run_.run(); }
  void stop() noexcept override { run_.stop(); }
  void resume() noexcept override { run_.resume(); }
  std::span<const data::TensorView> outputs() override { return run_.outputs(); }

 private:
  runtime::BoundRun run_;
};

class OrtModel final : public LoadedModel {
 public:
  explicit OrtModel(runtime::Session session) : session_(std::move(session)) {}

  const std::vector<data::ValueDescription>& inputs() const override { return session_.inputs(); }
  const std::vector<data::ValueDescription>& outputs() const override { return session_.outputs(); }
  std::optional<std::string> metadata(const std::string& key) const override {
    return session_.metadata(key);
  }
  const std::string& model() const override { return session_.model(); }
  const char* runtime() const override { return "ONNX Runtime"; }
  const std::string& runtime_version() const override { return session_.library().version(); }
  bool was_cut() const noexcept override { return session_.was_cut(); }
  std::unique_ptr<ModelRun> start() const override { return std::make_unique<OrtRun>(session_); }

 private:
  runtime::Session session_;
};

runtime::SessionOptions session_options_of(const LoadOptions& options) {
  runtime::SessionOptions made;
  made.threads = options.threads;
  made.shares_threads = options.shares_threads;
  made.config = options.config;
  return made;
}

}  // namespace

std::shared_ptr<const runtime::Library> open_library(const std::string& wanted) {
  try {
    return runtime::Library::open(runtime::Library::find(wanted));
  } catch (const Error& error) {
    throw Failure(Status::kNoRuntime, error.what());
  }
}

std::unique_ptr<LoadedModel> load_ort(const ModelBytes& model,
                                      const std::shared_ptr<const runtime::Library>& library,
                                      const LoadOptions& options) {
  const runtime::SessionOptions how = session_options_of(options);
  return std::make_unique<OrtModel>(model.path().empty()
                                        ? runtime::Session(library, model.name(), model.bytes(), how)
                                        : runtime::Session(library, model.path(), how));
}

std::unique_ptr<LoadedModel> load_ort_mapped(std::string_view bytes, const std::string& name,
                                             const std::shared_ptr<const runtime::Library>& library,
                                             const LoadOptions& options) {
  runtime::SessionOptions how = session_options_of(options);
  how.config.merge(runtime::mapped_bytes());
  return std::make_unique<OrtModel>(runtime::Session(library, name, bytes, how));
}

}  // namespace ounce::app
