#include "formats/open.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "formats/coreml/view/coreml_file.h"
#include "formats/onnx/view/onnx_file.h"
#include "formats/tflite/view/tflite_file.h"

namespace ounce::formats {

model::ModelFilePtr open_model(const std::filesystem::path& path) {
  using model::ModelKind;
  const ModelKind kind = model::detect(path).value_or(ModelKind::kOnnx);
  switch (kind) {
    case ModelKind::kTflite: return tflite::open_file(path);
    case ModelKind::kCoreml: return coreml::open_file(path);
    case ModelKind::kOnnx: break;
  }
  return onnx::open_file(path);
}

void write_with_metadata(const model::ModelFile& file, const std::string& key, const std::string& value,
                         const std::filesystem::path& output) {
  if (const auto* tflite = dynamic_cast<const tflite::TfliteFile*>(&file)) {
    tflite::write_with_metadata(*tflite, key, value, output);
  } else if (const auto* coreml = dynamic_cast<const coreml::CoremlFile*>(&file)) {
    coreml::write_with_metadata(*coreml, key, value, output);
  } else {
    onnx::write_with_metadata(onnx::as_onnx(file), key, value, output);
  }
}

void replace_metadata(const std::filesystem::path& model, const std::string& key, const std::string& value) {
  if (model::detect(model) == model::ModelKind::kTflite) {
    tflite::write_with_metadata(*tflite::open_file(model), key, value, model);
  } else {
    onnx::replace_metadata(model, key, value);
  }
}

}  // namespace ounce::formats
