// The one exception the library throws, and how it becomes an exit code.
//
//   try { ounce::quantize(...); }
//   catch (const ounce::Error& error) { log(error.what()); return ounce::exit_code(error.code()); }
//
// what() is one line for a person: what is wrong, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace ounce {

enum class ErrorCode {
  kUsage,        // the request makes no sense: an unknown option, an output that is the input
  kBadInput,     // a file is not what it should be: truncated, hostile, inconsistent
  kUnsupported,  // the request is fine and the model is fine, but nothing can be done
  kIo,           // the operating system refused: missing file, full disk
  kCancelled,    // the user asked to stop
  kInternal,     // a bug of ours
  kTimeout,      // a model was given so much time to load or to run, and took longer
  kMemory,       // a model found no memory to load or to run, or no threads
};

// 2, 2, 3, 4, 130, 70, 2, 2: part of the command line's interface.
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
