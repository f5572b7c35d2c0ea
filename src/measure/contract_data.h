// What data says about a contract: needs models to be run.
#pragma once

#include <ounce/contract.h>
#include <ounce/data.h>
#include <ounce/runtime.h>

namespace ounce::measure {

// Adds to the contract what the data looks like, and its first sample as the golden one.
void record(const std::filesystem::path& model, const DataOptions& data, const RuntimeOptions& runtime,
            Contract& contract);

// Is `data` what the contract says, and does the golden sample (if it is among the data) still give what it
// gave? And is what an app gave its model (`dumps`, by input) what the contract makes of the same samples?
ContractCheck check_contract(const std::filesystem::path& model, const Contract& contract,
                             const DataOptions& data, const RuntimeOptions& runtime,
                             const std::map<std::string, std::filesystem::path>& dumps);

}  // namespace ounce::measure
