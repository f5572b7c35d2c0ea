#include "runtime/local_executors.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <fstream>

#include "formats/coreml/file/reader.h"
#include "runtime/mil/program.h"

namespace ounce::runtime {
namespace {

// Writes the profile in the form of ONNX Runtime's profiles (evaluate/timing/rounds.h).
std::string json_of(const mil::Program& program) {
  nlohmann::json events = nlohmann::json::array();
  for (std::uint64_t run = 0; run < program.runs(); ++run)
    events.push_back({{"cat", "Session"}, {"name", "model_run"}});
  for (const mil::OperationTime& time : program.times()) {
    if (time.seconds == 0) continue;
    events.push_back({{"cat", "Node"},
                      {"name", time.name + "_kernel_time"},
                      {"dur", 1e6 * time.seconds},
                      {"args", {{"op_name", time.type}, {"provider", "evaluator"}, {"is_integer", false}}}});
  }
  return events.dump();
}

class MilExecutor final : public LocalExecutor {
 public:
  explicit MilExecutor(const LoadRequest& request)
      : program_(coreml::read_model(request.model), !request.settings.profile.empty()),
        version_(open_evaluator({})),
        profile_(request.settings.profile) {}

  const std::vector<ValueDescription>& inputs() const override { return program_.inputs(); }
  const std::vector<ValueDescription>& outputs() const override { return program_.outputs(); }
  const std::string& library_version() const override { return version_; }
  void bind(std::span<const TensorView> inputs) override { program_.bind(inputs); }
  void run_bound() override { program_.run(); }
  std::span<const TensorView> results() override { return program_.results(); }
  void stop() noexcept override { program_.stop(); }
  bool is_single_threaded() const override { return true; }

  std::filesystem::path end_profile() override {
    if (profile_.empty()) return {};
    std::filesystem::path path = profile_;
    path += ".json";
    std::ofstream file(path, std::ios::binary);
    if (!(file << json_of(program_) << std::flush))
      throw Error(ErrorCode::kIo, "cannot write the profile", path.string());
    return path;
  }

 private:
  mil::Program program_;
  std::string version_;
  std::filesystem::path profile_;
};

}  // namespace

std::string open_evaluator(const std::filesystem::path&) {
  return fmt::format("{} (not Apple's runtime)", version());
}

std::unique_ptr<LocalExecutor> load_in_evaluator(const LoadRequest& request) {
  return std::make_unique<MilExecutor>(request);
}

ModelFiles files_for_evaluator(const std::filesystem::path& model, const LoadSettings&) {
  throw Error(ErrorCode::kUnsupported,
              "Core ML packages cannot be sent to another machine yet; run Ounce on that machine",
              model.string());
}

}  // namespace ounce::runtime
