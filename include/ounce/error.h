// The only exception that the library throws, and its exit code.
//
//   try { ounce::quantize(...); }
//   catch (const ounce::Error& error) { log(error.what()); return ounce::exit_code(error.code()); }
//
// what() is one line: the location, the problem, and a remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace ounce {

enum class ErrorCode {
  kUsage,        // invalid request: an unknown option, an output that is the input
  kBadInput,     // invalid file: truncated, hostile, inconsistent
  kUnsupported,  // request and model are valid, but the operation is not supported for this model
  kIo,           // I/O error: missing file, full disk
  kCancelled,    // stopped by the caller
  kInternal,     // a bug in Ounce
  kTimeout,      // a model exceeded its time limit for loading or running
  kMemory,       // a model ran out of memory or threads while loading or running
};

// Returns 2, 2, 3, 4, 130, 70, 2, 2 in the order of the enum. These are the exit codes of the program.
int exit_code(ErrorCode code) noexcept;

class Error : public std::runtime_error {
 public:
  // `where` names the tensor, node or byte offset; it is part of what(), and kept for programs.
  Error(ErrorCode code, const std::string& message, std::string where = {});

  ErrorCode code() const noexcept { return code_; }
  const std::string& where() const noexcept { return where_; }

 private:
  ErrorCode code_;
  std::string where_;
};

}  // namespace ounce
