// The golden sample of a model's contract, run in the app: the proof that its preprocessing, its runtime and
// its CPU give what was recorded.
#pragma once

#include <ounce/contract.h>

#include <span>

#include "data/tensor.h"

namespace ounce::app {

// Throw Failure{kContractMismatch}, Failure{kGoldenMismatch}.
void check_golden_input(const Golden& golden, std::span<const data::TensorView> inputs,
                        const std::string& model);
void check_golden_output(const Golden& golden, std::span<const data::TensorView> outputs,
                         const std::vector<data::ValueDescription>& names, const std::string& model);

}  // namespace ounce::app
