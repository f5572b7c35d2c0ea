// Records and checks the data of a preprocessing contract by running the model.
#pragma once

#include <ounce/data.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <map>
#include <string>

namespace ounce::evaluate {

// Adds the value ranges of the preprocessed data to the contract, and the first sample as golden sample.
void record(const std::filesystem::path& model, const DataOptions& data, const RuntimeOptions& runtime,
            Contract& contract);

// Checks that the data fits the contract, that the golden sample (if the data contains it) still gives the
// recorded outputs, and that the input values of an app (`dumps`, by input) equal the contract's
// preprocessing of the same samples.
ContractCheck check_contract(const std::filesystem::path& model, const Contract& contract,
                             const DataOptions& data, const RuntimeOptions& runtime,
                             const std::map<std::string, std::filesystem::path>& dumps);

}  // namespace ounce::evaluate
