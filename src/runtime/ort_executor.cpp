#include "runtime/local_executors.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>

#include "formats/onnx/file/reader.h"
#include "runtime/ort/bound_run.h"

namespace ounce::runtime {
namespace {

class OrtExecutor final : public LocalExecutor {
 public:
  explicit OrtExecutor(const LoadRequest& request, const SessionOptions& options)
      : session_(Library::open(request.library), request.model, options),
        bound_(session_),
        is_single_threaded_(options.is_single_threaded()),
        is_profiled_(!options.profile.empty()) {}
  ~OrtExecutor() override = default;

  const std::vector<ValueDescription>& inputs() const override { return session_.inputs(); }
  const std::vector<ValueDescription>& outputs() const override { return session_.outputs(); }
  const std::string& library_version() const override { return session_.library().version(); }
  void bind(std::span<const TensorView> inputs) override { bound_.bind(inputs); }
  void run_bound() override { bound_.run(); }
  std::span<const TensorView> results() override { return bound_.outputs(); }
  void stop() noexcept override { bound_.stop(); }
  bool is_single_threaded() const override { return is_single_threaded_; }
  std::filesystem::path end_profile() override {
    return is_profiled_ ? session_.end_profile() : std::filesystem::path();
  }

 private:
  Session session_;
  BoundRun bound_;
  bool is_single_threaded_, is_profiled_;
};

}  // namespace

std::string open_ort(const std::filesystem::path& library) { return Library::open(library)->version(); }

std::unique_ptr<LocalExecutor> load_in_ort(const LoadRequest& request) {
  return std::make_unique<OrtExecutor>(request, session_options_of(request.settings));
}

ModelFiles files_for_ort(const std::filesystem::path& model, const LoadSettings& settings) {
  const onnx::Model read = onnx::read_model(model, {.folder = model.parent_path(),
                                                    .name = model.string(),
                                                    .external_data_paths = settings.external_data_paths});
  ModelFiles files(read.external_files.begin(), read.external_files.end());
  files[model.filename().string()] = read.file;
  return files;
}

LoadSettings settings_of(const RuntimeOptions& options) {
  LoadSettings settings;
  settings.threads = options.threads;
  settings.options = options.config;
  if (options.threads_between != 1)
    settings.options[kThreadsBetween] = std::to_string(options.threads_between);
  if (options.optimization != Optimization::kAll)
    settings.options[kOptimization] = name_of(options.optimization);
  return settings;
}

SessionOptions session_options_of(const LoadSettings& settings) {
  SessionOptions options;
  options.threads = settings.threads;
  options.profile = settings.profile;
  options.external_data_paths = settings.external_data_paths;
  for (const auto& [name, value] : settings.options) {
    bool is_known = true;
    if (name == kThreadsBetween) {
      const char* const end = value.data() + value.size();
      is_known = std::from_chars(value.data(), end, options.threads_between).ptr == end && !value.empty();
    } else if (name == kOptimization) {
      const auto level = from_name<Optimization>(value);
      is_known = level.has_value();
      options.optimization = level.value_or(Optimization::kAll);
    } else if (name == kSaveOptimized) {
      options.save_optimized = value;
    } else {
      options.config[name] = value;
    }
    if (!is_known) throw Error(ErrorCode::kBadInput, fmt::format("{}: invalid value '{}'", name, value));
  }
  return options;
}

}  // namespace ounce::runtime
