// Compares data with a contract by running the model.
#pragma once

#include <ounce/contract.h>
#include <ounce/data.h>
#include <ounce/runtime.h>

#include <filesystem>
#include <map>
#include <string>

namespace ounce::evaluate {

// Adds the observed range of the data to the contract, and its first sample as the golden one.
void record(const std::filesystem::path& model, const DataOptions& data, const RuntimeOptions& runtime,
            Contract& contract);

// Checks that the data fits the contract, that the golden sample (if it is among the data) still gives the
// recorded outputs, and that the values that an app gave its model (`dumps`, by input) are those that the
// contract makes of the same samples.
ContractCheck check_contract(const std::filesystem::path& model, const Contract& contract,
                             const DataOptions& data, const RuntimeOptions& runtime,
                             const std::map<std::string, std::filesystem::path>& dumps);

}  // namespace ounce::evaluate
