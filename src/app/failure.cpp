#include "app/failure.h"

#include <utility>

namespace ounce::app {
namespace {

ErrorCode code_of(Status status) {
  switch (status) {
    case Status::kUsage:
    case Status::kThreadsTaken: return ErrorCode::kUsage;
    case Status::kIo: return ErrorCode::kIo;
    case Status::kUnsupported:
    case Status::kNoRuntime:
    case Status::kRuntimeTooOld:
    case Status::kOtherCpu: return ErrorCode::kUnsupported;
    case Status::kMemory: return ErrorCode::kMemory;
    case Status::kCancelled: return ErrorCode::kCancelled;
    case Status::kTimeout: return ErrorCode::kTimeout;
    case Status::kInternal: return ErrorCode::kInternal;
    default: return ErrorCode::kBadInput;
  }
}

}  // namespace

Failure::Failure(Status status, const std::string& message, std::string where)
    : Error(code_of(status), message, std::move(where)), status_(status) {}

Status status_of(ErrorCode code, Status bad_input) {
  switch (code) {
    case ErrorCode::kUsage: return Status::kUsage;
    case ErrorCode::kBadInput: return bad_input;
    case ErrorCode::kUnsupported: return Status::kUnsupported;
    case ErrorCode::kIo: return Status::kIo;
    case ErrorCode::kCancelled: return Status::kCancelled;
    case ErrorCode::kTimeout: return Status::kTimeout;
    case ErrorCode::kMemory: return Status::kMemory;
    case ErrorCode::kInternal: break;
  }
  return Status::kInternal;
}

}  // namespace ounce::app
