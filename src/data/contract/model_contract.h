// The contract that a model carries in its metadata.
#pragma once

#include <ounce/contract.h>

#include <filesystem>
#include <optional>

namespace ounce::data {

// Nothing when it carries none. Throws what read_model throws, and Error{kBadInput} when it cannot be read.
std::optional<Contract> contract_in(const std::filesystem::path& model);

}  // namespace ounce::data
