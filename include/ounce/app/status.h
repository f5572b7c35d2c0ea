// What can go wrong in an app, each with a number of its own: the same in C++, in C and in the bindings.
#pragma once

#include <string>

#include <ounce/error.h>
#include <ounce/names.h>

namespace ounce::app {

enum class Status : int {
  kOk = 0,
  kUsage = 1,         // a name, a type, a shape or a setting that makes no sense
  kIo = 2,            // a file cannot be read
  kBadModel = 3,      // truncated, damaged, or none at all
  kUnsupported = 4,   // this runtime cannot run it
  kMemory = 5,        // none left
  kNoRuntime = 6,     // no library of ONNX Runtime, or one that is too old for this library
  kThreadsTaken = 7,  // threads cannot be shared any more: models were loaded before that was asked for

  kRuntimeTooOld = 20,     // the model was made for a newer ONNX Runtime
  kOtherCpu = 21,          // it was made for another kind of CPU
  kNotOurs = 22,           // it was not written by Ounce
  kWrongDigest = 23,       // the file is not the one that was expected
  kWrongSource = 24,       // it was made from another model
  kNoContract = 25,        // it says nothing about its inputs
  kContractMismatch = 26,  // the golden sample comes out of the preprocessing with other values
  kGoldenMismatch = 27,    // the golden sample comes out of the model with other values

  kCancelled = 40,
  kTimeout = 41,
  kRunFailed = 42,  // the runtime could not finish a run

  kInternal = 70,  // a bug of ours
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

// All that is thrown here. what() is one line for a person.
class Failure : public Error {
 public:
  Failure(Status status, const std::string& message, std::string where = {});

  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace ounce::app
