// The contract that a model carries in its metadata.
#pragma once

#include <ounce/contract.h>

#include <filesystem>
#include <optional>

#include "model/model_file.h"

namespace ounce::data {

// Nothing when it carries none. Throws what open_model() throws, and Error{kBadInput} when it cannot be read.
std::optional<Contract> contract_in(const model::ModelFile& file);
std::optional<Contract> contract_in(const std::filesystem::path& model);

}  // namespace ounce::data
