#include "corpus/backend_tests.h"

#include <ounce/error.h>

#include <algorithm>

#include "formats/onnx/file/tensor_reader.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace fs = std::filesystem;

std::vector<fs::path> backend_models() {
  std::vector<fs::path> models;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(OUNCE_BACKEND_TESTS)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  return models;
}

std::string name_of_model(const fs::path& model) {
  const fs::path folder = model.parent_path();
  return folder.parent_path().filename() / folder.filename();
}

std::optional<std::vector<TestInput>> test_inputs(const fs::path& model) {
  std::vector<TestInput> inputs;
  for (std::size_t i = 0;; ++i) {
    const fs::path file = model.parent_path() / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return inputs;
    TestInput input{read_file(file), {}};
    try {
      onnx::Model owner;
      const onnx::Origin origin{input.message, file.string()};
      const auto tensor = onnx::TensorReader(owner, origin, std::nullopt).read(input.message);
      if (tensor->type == ElementType::kString) return std::nullopt;
      input.tensor = {tensor->type, tensor->dims, std::string(onnx::RawValues(*tensor).bytes())};
    } catch (const Error&) {
      return std::nullopt;  // not a TensorProto
    }
    inputs.push_back(std::move(input));
  }
}

}  // namespace ounce::test
