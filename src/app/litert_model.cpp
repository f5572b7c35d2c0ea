#include <algorithm>
#include <mutex>
#include <utility>

#include "app/load_checks.h"
#include "app/loaded_model.h"
#include "formats/tflite/file/reader.h"
#include "runtime/litert/session.h"
#include "runtime/local_executors.h"
#include "runtime/places.h"

namespace ounce::app {
namespace {

namespace litert = runtime::litert;

// A compiled model of LiteRT runs one call at a time, so each LitertRun has its own.
class LitertRun final : public ModelRun {
 public:
  explicit LitertRun(std::unique_ptr<litert::Session> session) : session_(std::move(session)) {}

  void bind(std::span<const data::TensorView> inputs) override {
    session_->bind(inputs);
    inputs_.assign(inputs.begin(), inputs.end());
  }
  void run() override {
    session_->bind(inputs_);  // copies the values; the shapes are unchanged
    session_->run();
    outputs_ = session_->results();
  }
  void stop() noexcept override { session_->stop(); }
  void resume() noexcept override { session_->resume(); }
  std::span<const data::TensorView> outputs() override { return outputs_; }

 private:
  std::unique_ptr<litert::Session> session_;
  std::vector<data::TensorView> inputs_;
  std::span<const data::TensorView> outputs_;
};

class LitertModel final : public LoadedModel {
 public:
  LitertModel(std::shared_ptr<const litert::Library> library, const ModelBytes& bytes,
              const litert::SessionOptions& options)
      : library_(std::move(library)),
        name_(bytes.name()),
        copy_(bytes.stays() ? std::string() : std::string(bytes.bytes())),
        bytes_(bytes.stays() ? bytes.bytes() : std::string_view(copy_)),
        file_(tflite::read_model_in_place(bytes_, name_)),
        options_(options),
        first_(compile()),
        inputs_(first_->inputs()),
        outputs_(first_->outputs()) {}

  const std::vector<data::ValueDescription>& inputs() const override { return inputs_; }
  const std::vector<data::ValueDescription>& outputs() const override { return outputs_; }
  std::optional<std::string> metadata(const std::string& key) const override {
    const auto found = std::find_if(file_.metadata.begin(), file_.metadata.end(),
                                    [&](const tflite::Metadata& entry) { return entry.name == key; });
    if (found == file_.metadata.end()) return std::nullopt;
    const tflite::Bytes value = file_.buffers[found->buffer].data.bytes();
    return std::string(value.substr(0, value.find_last_not_of('\0') + 1));  // converters pad with zeros
  }
  const std::string& model() const override { return name_; }
  const char* runtime() const override { return "LiteRT"; }
  const std::string& runtime_version() const override { return library_->version(); }

  // The first run takes the model that loading has compiled.
  std::unique_ptr<ModelRun> start() const override {
    std::unique_ptr<litert::Session> session;
    {
      const std::lock_guard lock(mutex_);
      session = std::move(first_);
    }
    return std::make_unique<LitertRun>(session ? std::move(session) : compile());
  }

 private:
  std::unique_ptr<litert::Session> compile() const {
    return std::make_unique<litert::Session>(library_, file_, bytes_, name_, options_);
  }

  std::shared_ptr<const litert::Library> library_;
  std::string name_, copy_;
  std::string_view bytes_;
  tflite::Model file_;  // views into the bytes
  litert::SessionOptions options_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<litert::Session> first_;
  std::vector<data::ValueDescription> inputs_, outputs_;
};

std::shared_ptr<const litert::Library> open_litert(const std::string& wanted) {
  try {
    return litert::Library::open(runtime::find_library(ounce::model::ModelKind::kTflite, wanted));
  } catch (const Error& error) {
    throw Failure(Status::kNoRuntime, error.what());
  }
}

}  // namespace

std::unique_ptr<LoadedModel> load_litert(const ModelBytes& model, const LoadOptions& options) {
  if (options.shares_threads)
    throw Failure(Status::kUnsupported,
                  "LiteRT models cannot share threads; set 'threads' of this model instead", model.name());
  runtime::LoadSettings settings;
  settings.threads = options.threads;
  settings.options = options.config;
  return std::make_unique<LitertModel>(open_litert(options.library), model,
                                       runtime::litert_options_of(settings));
}

}  // namespace ounce::app
