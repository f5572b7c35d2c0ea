#include "model/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <system_error>

#include "base/model_kind.h"

namespace ounce::model {

std::optional<ModelKind> detect(const std::filesystem::path& path) {
  if (path.extension() == ".onnx") return ModelKind::kOnnx;  // the reader reports errors in the content
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    // A package that is still being written has a temporary name.
    const bool is_package =
        is_package_name(path) || std::filesystem::is_regular_file(path / "Manifest.json", ignored);
    if (is_package || path.extension() == ".mlmodelc") return ModelKind::kCoreml;
    return std::nullopt;
  }
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;  // reading a pipe would block
  // A flatbuffer has its file identifier after the first four bytes.
  std::string start(8, '\0');
  if (std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size())) &&
      start.ends_with("TFL3"))
    return ModelKind::kTflite;
  if (path.extension() == ".mlmodel") return ModelKind::kCoreml;
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

namespace {

constexpr std::array<std::string_view, 9> kOfCoreml = {"inspect",  "diff",  "contract", "verify",     "bench",
                                                       "quantize", "prove", "tune",     "sensitivity"};
constexpr std::array<std::string_view, 12> kOfTflite = {"inspect", "diff",      "contract",    "verify",
                                                        "bench",   "quantize",  "check",       "prove",
                                                        "tune",    "calibrate", "sensitivity", "advise"};

// Kinds that not all verbs support.
struct Row {
  ModelKind kind;
  std::span<const std::string_view> verbs;
};
constexpr std::array kRows = {Row{ModelKind::kTflite, kOfTflite}, Row{ModelKind::kCoreml, kOfCoreml}};

const Row* row_of(ModelKind kind) {
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) { return each.kind == kind; });
  return row == kRows.end() ? nullptr : row;
}

}  // namespace

bool supports(ModelKind kind, std::string_view verb) {
  const Row* const row = row_of(kind);
  return row == nullptr || std::find(row->verbs.begin(), row->verbs.end(), verb) != row->verbs.end();
}

void require_support(const std::filesystem::path& model, std::string_view verb) {
  const ModelKind kind = detect(model).value_or(ModelKind::kOnnx);
  if (supports(kind, verb)) return;
  const auto verbs = row_of(kind)->verbs;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("is a {} model, and {} works only on ONNX models yet; {}", name_of(kind), verb,
                          verbs.empty() ? "convert it to ONNX"
                                        : fmt::format("on {}: {}", name_of(kind), fmt::join(verbs, ", "))),
              model.string());
}

}  // namespace ounce::model
