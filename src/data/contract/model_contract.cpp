#include "data/contract/contract_file.h"

#include <fmt/format.h>

#include "formats/open.h"

namespace ounce::data {

std::optional<Contract> contract_in(const std::filesystem::path& path) {
  return contract_in(*formats::open_model(path));
}

std::optional<Contract> contract_in(const model::ModelFile& file) {
  const std::optional<std::string> text = model::metadata_of(file, Contract::kMetadataKey);
  if (!text) return std::nullopt;
  return parse_contract(*text,
                        fmt::format("{}: metadata '{}'", file.path().string(), Contract::kMetadataKey));
}

}  // namespace ounce::data
