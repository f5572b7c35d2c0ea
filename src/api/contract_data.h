// What data says about a contract: needs models to be run.
#pragma once

#include <ounce/contract.h>
#include <ounce/data.h>
#include <ounce/runtime.h>

namespace ounce::api {

// Adds to the contract what the data looks like, and its first sample as the golden one.
void record(const std::filesystem::path& model, const DataOptions& data, const RuntimeOptions& runtime,
            Contract& contract);

}  // namespace ounce::api
