// Runs a model on the machine of a target, and here, on the same made-up inputs.
#pragma once

#include <ounce/check.h>

#include <filesystem>

#include "target/target.h"

namespace ounce::evaluate {

// Is there anything that runs programs for this machine: itself, an emulator, a remote side?
bool can_execute(const target::Target& target, const CheckOptions& options);

// Whatever goes wrong there is in the result. Throws when the model does not run here.
Execution execute(const std::filesystem::path& model, const target::Target& target,
                  const CheckOptions& options);

}  // namespace ounce::evaluate
