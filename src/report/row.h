// One model of a run: its result, or why there is none.
#pragma once

#include <ounce/error.h>
#include <ounce/names.h>

#include <filesystem>
#include <string>
#include <vector>

namespace ounce {

template <>
struct NamesOf<ErrorCode> {
  using enum ErrorCode;
  static constexpr Named<ErrorCode> kAll[] = {
      {kUsage, "usage"},         {kBadInput, "bad_input"}, {kUnsupported, "unsupported"}, {kIo, "io"},
      {kCancelled, "cancelled"}, {kInternal, "internal"},  {kTimeout, "timeout"},         {kMemory, "memory"}};
};

}  // namespace ounce

namespace ounce::report {

// A field of an options struct that a message names: {"format", "static"}; the value may be empty.
struct FieldRef {
  std::string field, value;
};

struct Failure {
  int exit_code = 0;
  std::string message;  // one line for a person; empty: it went well
  ErrorCode code = ErrorCode::kInternal;
  std::vector<FieldRef> fields = {};  // that the message names

  bool empty() const { return message.empty(); }
};

template <class Result>
struct Row {
  std::filesystem::path model;
  Result result;
  Failure error;
  int exit_code = 0;  // of the error, or of a gate that failed
};

}  // namespace ounce::report
