#include "make/output_place.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "data/read_files.h"
#include "io/output_file.h"

namespace ounce::make {
namespace fs = std::filesystem;

Inputs& Inputs::add(const onnx::Model& model) {
  models_.push_back(&model);
  return *this;
}

Inputs& Inputs::add(const DataOptions& data) {
  data_.push_back(data);
  return *this;
}

Inputs& Inputs::add(const RuntimeOptions& runtime) { return add("the runtime", runtime.library); }

Inputs& Inputs::add(std::string what, fs::path file) {
  if (!file.empty()) files_.push_back({std::move(what), std::move(file)});
  return *this;
}

// What `output` is, or nothing.
std::string Inputs::find(const fs::path& output) const {
  for (const onnx::Model* model : models_) {
    const auto is_output = [&](const auto& file) { return file.second.same_file_as(output); };
    if (model->file.same_file_as(output) ||
        std::any_of(model->external_files.begin(), model->external_files.end(), is_output))
      return "the input";
  }
  for (const File& file : files_) {
    std::error_code none;
    if (fs::equivalent(file.path, output, none) && !none) return file.what;
  }
  for (const DataOptions& data : data_) {
    if (data::is_read_from(data, output)) return "the data";
  }
  return {};
}

void Inputs::require_apart(const fs::path& output, const std::string& name) const {
  io::require_file_or_free(output);
  std::error_code none;
  if (!fs::exists(output, none)) return;
  const std::string what = find(output);
  if (what.empty()) return;
  throw Error(ErrorCode::kUsage, fmt::format("{} would replace {}; choose another `output`", name, what),
              output.string());
}

}  // namespace ounce::make
