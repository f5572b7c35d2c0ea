#include "cli/model_list.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <exception>

namespace ounce::cli {
namespace fs = std::filesystem;

std::vector<ModelFile> find_models(const std::vector<std::string>& arguments) {
  std::vector<ModelFile> models;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      models.push_back({argument, fs::path(argument).filename()});
      continue;
    }
    std::vector<ModelFile> found;
    for (const auto& entry : fs::recursive_directory_iterator(argument, error)) {
      if (entry.path().extension() == ".onnx" && entry.is_regular_file(error)) {
        found.push_back({entry.path(), fs::relative(entry.path(), argument, error)});
      }
    }
    if (error) throw Error(ErrorCode::kIo, error.message(), argument);
    if (found.empty()) throw Error(ErrorCode::kUsage, "the folder holds no .onnx files", argument);
    std::sort(found.begin(), found.end(), [](const ModelFile& a, const ModelFile& b) { return a.relative < b.relative; });
    models.insert(models.end(), found.begin(), found.end());
  }
  return models;
}

fs::path output_for(const ModelFile& model, const std::string& output, bool several,
                    const std::function<fs::path(const fs::path&)>& usual_name, bool dry_run) {
  if (output.empty()) return usual_name(model.path);
  std::error_code error;
  const bool is_folder = several || output.ends_with('/') || fs::is_directory(output, error);
  if (!is_folder) return output;
  const fs::path target = fs::path(output) / model.relative;
  if (!dry_run) {
    fs::create_directories(target.parent_path(), error);
    if (error) throw Error(ErrorCode::kIo, fmt::format("cannot make the folder: {}", error.message()), target.parent_path().string());
  }
  return target;
}

int guarded(const std::function<void()>& work, std::string& message) {
  try {
    work();
    return 0;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;  // stops the whole run
    message = error.what();
    return exit_code(error.code());
  } catch (const std::exception& error) {
    message = fmt::format("internal error: {}; please report it", error.what());
    return exit_code(ErrorCode::kInternal);
  }
}

}  // namespace ounce::cli
