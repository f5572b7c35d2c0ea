// What has to hold before a model is given to an app: each check has its Status.
#pragma once

#include <ounce/app/session.h>

#include "app/model_bytes.h"
#include "runtime/session.h"

namespace ounce::app {

// Before it is loaded: the model and its external data (model_digest.h). Throws Failure{kWrongDigest}, and
// Failure{kBadModel} for a model without a path that names external data.
void check_digest(const ModelBytes& model, const std::string& expected);

// What the metadata says. Throws Failure.
void check_metadata(const runtime::Session& session, const Checks& checks);

// A place that a model was made for, "android-arm64@1.22.0+vnni": throws Failure{kRuntimeTooOld} or
// Failure{kOtherCpu} when this is another one. `kernels` is what cpu_kernels() says.
void check_target(const std::string& target, const std::string& runtime_version, const std::string& machine,
                  const std::string& kernels, const Checks& checks, const std::string& model);

}  // namespace ounce::app
