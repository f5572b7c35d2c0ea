// The formats of model files that Ounce knows, and sets of them for tables.
#pragma once

#include <ounce/error.h>

#include <cstdint>
#include <filesystem>
#include <iterator>

namespace ounce {

enum class ModelKind : std::uint8_t { kOnnx, kTflite, kCoreml };
template <>
struct NamesOf<ModelKind> {
  static constexpr Named<ModelKind> kAll[] = {
      {ModelKind::kOnnx, "ONNX"}, {ModelKind::kTflite, "TFLite"}, {ModelKind::kCoreml, "Core ML"}};
};
inline constexpr std::size_t kModelKinds = std::size(NamesOf<ModelKind>::kAll);

// model_kinds(ModelKind::kOnnx, ModelKind::kTflite)
using ModelKinds = std::uint8_t;
template <class... Kinds>
constexpr ModelKinds model_kinds(Kinds... kinds) {
  return static_cast<ModelKinds>(((1U << static_cast<unsigned>(kinds)) | ...));
}
constexpr bool has_kind(ModelKinds kinds, ModelKind kind) { return (kinds & model_kinds(kind)) != 0; }

// True if the name is that of a Core ML package, which is a folder. A trailing slash is allowed.
inline bool is_package_name(const std::filesystem::path& path) {
  const std::filesystem::path name = path.has_filename() ? path : path.parent_path();
  return name.extension() == ".mlpackage";
}

}  // namespace ounce
