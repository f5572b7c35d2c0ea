#include "data/contract/model_contract.h"

#include <fmt/format.h>

#include "data/contract/contract_json.h"
#include "formats/onnx/file/reader.h"

namespace ounce::data {

std::optional<Contract> contract_in(const std::filesystem::path& path) {
  const onnx::Model model = onnx::read_model(path);
  for (const auto& entry : model.proto->metadata) {
    if (entry->key == Contract::kMetadataKey) {
      return parse_contract(entry->value,
                            fmt::format("{}: metadata '{}'", path.string(), Contract::kMetadataKey));
    }
  }
  return std::nullopt;
}

}  // namespace ounce::data
