#include "runtime/executor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "model/model_file.h"
#include "runtime/hosted.h"
#include "runtime/isolated.h"
#include "runtime/ort/bound_run.h"
#include "runtime/remote.h"

namespace ounce::runtime {
namespace {

class LocalExecutor : public Executor {
 public:
  LocalExecutor(const std::filesystem::path& model, const ExecutorOptions& options)
      : session_(Library::open(Library::find(options.library)), model, options.session),
        bound_(session_),
        is_single_threaded_(options.session.is_single_threaded()) {}

  const std::vector<ValueDescription>& inputs() const override { return session_.inputs(); }
  const std::vector<ValueDescription>& outputs() const override { return session_.outputs(); }
  const std::string& library_version() const override { return session_.library().version(); }
  std::span<const TensorView> run(std::span<const TensorView> inputs) override {
    bound_.bind(inputs);
    bound_.run();
    return bound_.outputs();
  }
  SlotTimes time(std::span<const TensorView> inputs, std::uint64_t runs) override {
    bound_.bind(inputs);
    return time_slot(runs, is_single_threaded_, [this] { bound_.run(); });
  }

 private:
  Session session_;
  BoundRun bound_;
  bool is_single_threaded_;
};

}  // namespace

std::unique_ptr<Hosted> load_hosted(const std::filesystem::path& model, const ExecutorOptions& options) {
  if (options.remote) return std::make_unique<Remote>(model, options);
  return std::make_unique<Isolated>(model, options);
}

std::unique_ptr<Executor> load(const std::filesystem::path& path, const ExecutorOptions& options) {
  if (options.isolate || options.remote || options.masked) return load_hosted(path, options);
  // A file without a mark of its own is ONNX Runtime's: a model, its ORT format, or a file without a name
  // yet.
  const model::ModelKind kind = model::detect(path).value_or(model::ModelKind::kOnnx);
  if (kind != model::ModelKind::kOnnx)
    throw Error(ErrorCode::kUnsupported, fmt::format("is a {} model, which Ounce cannot run", name_of(kind)),
                path.string());
  return std::make_unique<LocalExecutor>(path, options);
}

}  // namespace ounce::runtime
