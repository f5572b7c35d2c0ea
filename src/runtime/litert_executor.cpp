#include "runtime/local_executors.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <fstream>
#include <string_view>

namespace ounce::runtime {
namespace {

// Writes the profile in the form of ONNX Runtime's profiles (evaluate/timing/rounds.h).
std::string json_of(const litert::SessionProfile& profile) {
  nlohmann::json events = nlohmann::json::array();
  for (std::uint64_t run = 0; run < profile.runs; ++run)
    events.push_back({{"cat", "Session"}, {"name", "model_run"}});
  events.push_back({{"cat", "Session"},
                    {"name", "delegation"},
                    {"args", {{"operators", profile.operators}, {"delegated", profile.delegated}}}});
  for (const litert::OperatorTime& time : profile.times) {
    events.push_back({{"cat", "Node"},
                      {"name", time.name + "_kernel_time"},
                      {"dur", 1e6 * time.seconds},
                      {"args",
                       {{"op_name", time.op},
                        {"provider", time.is_delegated ? "XNNPACK" : "built-in"},
                        {"is_integer", time.is_integer}}}});
  }
  return events.dump();
}

class LitertExecutor final : public LocalExecutor {
 public:
  explicit LitertExecutor(const LoadRequest& request)
      : session_(litert::Library::open(request.library), request.model, litert_options_of(request.settings)),
        profile_(request.settings.profile),
        is_single_threaded_(request.settings.threads == 1) {}

  const std::vector<ValueDescription>& inputs() const override { return session_.inputs(); }
  const std::vector<ValueDescription>& outputs() const override { return session_.outputs(); }
  const std::string& library_version() const override { return session_.library().version(); }
  void bind(std::span<const TensorView> inputs) override { session_.bind(inputs); }
  void run_bound() override { session_.run(); }
  std::span<const TensorView> results() override { return session_.results(); }
  void stop() noexcept override { session_.stop(); }
  bool is_single_threaded() const override { return is_single_threaded_; }

  std::filesystem::path end_profile() override {
    if (profile_.empty()) return {};
    std::filesystem::path path = profile_;
    path += ".json";
    std::ofstream file(path, std::ios::binary);
    if (!(file << json_of(session_.end_profile()) << std::flush))
      throw Error(ErrorCode::kIo, "cannot write the profile", path.string());
    return path;
  }

 private:
  litert::Session session_;
  std::filesystem::path profile_;
  bool is_single_threaded_;
};

}  // namespace

litert::SessionOptions litert_options_of(const LoadSettings& settings) {
  litert::SessionOptions options;
  options.threads = settings.threads;
  options.is_profiled = !settings.profile.empty();
  for (const auto& [name, value] : settings.options) {
    if (!name.starts_with("litert.")) continue;
    if (name != kLitertKernels)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("LiteRT has no option '{}'; options: {}", name, kLitertKernels));
    if (value != "xnnpack" && value != "builtin")
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} must be 'xnnpack' or 'builtin', not '{}'", kLitertKernels, value));
    options.kernels = value == "builtin" ? litert::Kernels::kBuiltIn : litert::Kernels::kXnnpack;
  }
  return options;
}

std::string open_litert(const std::filesystem::path& library) {
  return litert::Library::open(library)->version();
}

std::unique_ptr<LocalExecutor> load_in_litert(const LoadRequest& request) {
  return std::make_unique<LitertExecutor>(request);
}

ModelFiles files_for_litert(const std::filesystem::path& model, const LoadSettings&) {
  return {{model.filename().string(), io::MappedFile::open(model)}};
}

}  // namespace ounce::runtime
