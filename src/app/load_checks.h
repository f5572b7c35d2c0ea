// The checks of a model before an app gets it, each with its Status.
#pragma once

#include <ounce/app/session.h>
#include <ounce/app/status.h>
#include <ounce/contract.h>

#include <new>
#include <span>
#include <utility>
#include <vector>

#include "app/loaded_model.h"
#include "app/model_bytes.h"
#include "data/tensor.h"

namespace ounce::app {

// Before it is loaded: the model and its external data (ModelDigest). Throws Failure{kWrongDigest}, and
// Failure{kBadModel} for a model without a path that names external data.
void check_digest(const ModelBytes& model, const std::string& expected);

// Checks the metadata. Throws Failure.
void check_metadata(const LoadedModel& session, const Checks& checks);

// Where a model is loaded.
struct Place {
  std::string runtime, version;  // "ONNX Runtime", "1.22.0"
  std::string machine;           // "x64"
  std::string kernels;           // what cpu_kernels() says
};

// A place that a model was made for, "android-arm64@1.22.0+vnni" or "android-arm64@litert-2.3.0": throws
// Failure{kRuntimeTooOld} or Failure{kOtherCpu} when `here` is another one.
void check_target(const std::string& target, const Place& here, const Checks& checks,
                  const std::string& model);

// The golden sample of a model's contract, run in the app: shows that its preprocessing, its runtime and its
// CPU give the recorded values. Throw Failure{kContractMismatch}, Failure{kGoldenMismatch}.
void check_golden_input(const Golden& golden, std::span<const data::TensorView> inputs,
                        const std::string& model);
void check_golden_output(const Golden& golden, std::span<const data::TensorView> outputs,
                         const std::vector<data::ValueDescription>& names, const std::string& model);

// Values for every input of a model, the same each time, to check that two forms of it give the same bits.
// Dynamic axes are 1. Empty if an input is no tensor of numbers.
std::vector<data::Tensor> probe_inputs(const std::vector<data::ValueDescription>& inputs);

// The status of an error. `bad_input` is the meaning of bad input here: no model, or a failed run.
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
    throw Failure(Status::kMemory, "no memory left");
  }
}

}  // namespace ounce::app
