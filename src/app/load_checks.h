// The checks of `Checks` (ounce/app.hpp) while a model is loaded. Each throws a Failure with its own
// Status.
#pragma once

#include <ounce/app.hpp>
#include <ounce/data.h>

#include <new>
#include <span>
#include <utility>
#include <vector>

#include "app/loaded_model.h"
#include "app/model_bytes.h"
#include "data/tensor.h"

namespace ounce::app {

// Compares the digest of the model and its external data (ModelDigest), before the model is loaded. Throws
// Failure{kWrongDigest}, or Failure{kBadModel} if a model without a path has external data.
void check_digest(const ModelBytes& model, const std::string& expected);

// Checks the model's metadata. Throws Failure.
void check_metadata(const LoadedModel& session, const Checks& checks);

// The platform that loads a model.
struct Place {
  std::string runtime, version;  // "ONNX Runtime", "1.22.0"
  std::string machine;           // "x64"
  std::string kernels;           // cpu_kernels()
};

// Checks the target that a model was made for, such as "android-arm64@1.22.0+vnni" or
// "android-arm64@litert-2.3.0". Throws Failure{kRuntimeTooOld} or Failure{kOtherCpu} if `here` does not
// match.
void check_target(const std::string& target, const Place& here, const Checks& checks,
                  const std::string& model);

// Compare the golden sample's preprocessed inputs and the model's outputs with the values recorded in the
// contract. Throw Failure{kContractMismatch} or Failure{kGoldenMismatch}.
void check_golden_input(const Golden& golden, std::span<const data::TensorView> inputs,
                        const std::string& model);
void check_golden_output(const Golden& golden, std::span<const data::TensorView> outputs,
                         const std::vector<data::ValueDescription>& names, const std::string& model);

// Returns fixed values for every input of a model, to check that two forms of the model give identical
// outputs. Dynamic axes get size 1. Returns nothing if an input is not a numeric tensor.
std::vector<data::Tensor> probe_inputs(const std::vector<data::ValueDescription>& inputs);

// Maps an error code to a status; `bad_input` is the status for kBadInput (kBadModel or kRunFailed).
Status status_of(ErrorCode code, Status bad_input);

// Runs an action and turns its exceptions into Failure.
template <class Action>
auto as_failures(Status bad_input, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Failure&) {
    throw;
  } catch (const Error& error) {
    throw Failure(status_of(error.code(), bad_input), error.what());
  } catch (const std::bad_alloc&) {
    throw Failure(Status::kMemory, "out of memory");
  }
}

}  // namespace ounce::app
