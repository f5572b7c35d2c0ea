// Status codes and exceptions of the app library. The codes are the same in C++, C and all bindings.
#pragma once

#include <string>

#include <ounce/error.h>
#include <ounce/names.h>

namespace ounce::app {

enum class Status : int {
  kOk = 0,
  kUsage = 1,         // an invalid name, type, shape or setting
  kIo = 2,            // a file cannot be read
  kBadModel = 3,      // the file is truncated, damaged or not a model
  kUnsupported = 4,   // this runtime cannot run the model
  kMemory = 5,        // out of memory
  kNoRuntime = 6,     // no runtime library was found, or it is too old for this library
  kThreadsTaken = 7,  // share_threads() was called after a model was loaded

  kRuntimeTooOld = 20,     // the model was made for a newer ONNX Runtime
  kOtherCpu = 21,          // the model was made for another kind of CPU
  kNotOurs = 22,           // the model was not written by Ounce
  kWrongDigest = 23,       // the file's digest is not the expected one
  kWrongSource = 24,       // the model was made from another source model
  kNoContract = 25,        // the model has no preprocessing contract
  kContractMismatch = 26,  // preprocessing the golden sample gives other values than recorded
  kGoldenMismatch = 27,    // the model's outputs for the golden sample differ from the recorded ones

  kCancelled = 40,
  kTimeout = 41,
  kRunFailed = 42,  // the runtime could not finish a run

  kInternal = 70,  // a bug in Ounce
};

}  // namespace ounce::app

namespace ounce {

template <>
struct NamesOf<app::Status> {
  using enum app::Status;
  static constexpr Named<app::Status> kAll[] = {{kOk, "ok"},
                                                {kUsage, "usage"},
                                                {kIo, "io"},
                                                {kBadModel, "bad_model"},
                                                {kUnsupported, "unsupported"},
                                                {kMemory, "memory"},
                                                {kNoRuntime, "no_runtime"},
                                                {kThreadsTaken, "threads_taken"},
                                                {kRuntimeTooOld, "runtime_too_old"},
                                                {kOtherCpu, "other_cpu"},
                                                {kNotOurs, "not_ours"},
                                                {kWrongDigest, "wrong_digest"},
                                                {kWrongSource, "wrong_source"},
                                                {kNoContract, "no_contract"},
                                                {kContractMismatch, "contract_mismatch"},
                                                {kGoldenMismatch, "golden_mismatch"},
                                                {kCancelled, "cancelled"},
                                                {kTimeout, "timeout"},
                                                {kRunFailed, "run_failed"},
                                                {kInternal, "internal"}};
};

}  // namespace ounce

namespace ounce::app {

// The only exception type of the app library. what() is a one-line message.
class Failure : public Error {
 public:
  Failure(Status status, const std::string& message, std::string where = {});

  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace ounce::app
