#include "model/model_file.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

namespace ounce::model {

std::optional<ModelKind> detect(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (path.extension() == ".mlpackage" || path.extension() == ".mlmodelc") return ModelKind::kCoreml;
    return std::nullopt;
  }
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;  // a pipe would wait
  // A flatbuffer has its identifier behind the first four bytes.
  std::string start(8, '\0');
  if (std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size())) &&
      start.ends_with("TFL3"))
    return ModelKind::kTflite;
  if (path.extension() == ".mlmodel") return ModelKind::kCoreml;
  if (path.extension() == ".onnx") return ModelKind::kOnnx;
  return std::nullopt;
}

std::string ModelFile::label(NodeId id) const {
  const NodeView& named = node(id);
  return named.name.empty() ? fmt::format("{}#{}", named.op, id.node) : std::string(named.name);
}

std::optional<std::string> metadata_of(const ModelFile& file, std::string_view key) {
  for (auto& [name, value] : file.metadata()) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace ounce::model
