// A text table for a terminal. Columns are as wide as their widest cell.
//
//   Table table({"model", ">size"});  // '>': a column of numbers, aligned to the right
//   table.add({"a.onnx", bytes_text(4096)});
//   text += table.text();
#pragma once

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "base/text.h"

namespace ounce::report {

class Table {
 public:
  explicit Table(const std::vector<std::string>& titles);
  void add(std::vector<std::string> cells);  // applies plain() to each cell
  void add_rule() { rows_.emplace_back(); }
  std::string text() const;

 private:
  struct Column {
    std::string title;
    bool is_right = false;
  };

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a line of dashes
};

// Numbers with units: "3.4 MB", "25.6 %", "43.8 dB", "1.2 s".
std::string bytes_text(std::uint64_t bytes);
std::string percent_text(double ratio);
std::string decibel_text(double decibel);
std::string seconds_text(double seconds);
// A latency with three digits, in µs or ms: "2.01 ms".
std::string time_text(double seconds);

// Lines of output with untrusted text: names, paths and messages are printed by plain(), so they cannot break
// the line, color it or fill the screen.
//
//   text += safe_format("note: {}\n", note);

template <class T>
inline constexpr bool is_foreign = std::is_same_v<T, std::string> || std::is_same_v<T, std::filesystem::path>;

template <class T>
using Shown = std::conditional_t<is_foreign<T>, std::string, const T&>;

template <class T>
Shown<T> shown(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return plain(value);
  } else if constexpr (is_foreign<T>) {
    return plain(value.string());
  } else {
    return value;
  }
}

// Like fmt::format, with every argument made safe to print. The format itself is a literal.
template <class... T>
std::string safe_format(fmt::format_string<Shown<T>...> format, const T&... values) {
  return fmt::format(format, shown(values)...);
}

}  // namespace ounce::report

namespace ounce {

// The row of one model of a run: its result, or the error.

template <>
struct NamesOf<ErrorCode> {
  using enum ErrorCode;
  static constexpr Named<ErrorCode> kAll[] = {
      {kUsage, "usage"},     {kBadInput, "bad_input"},  {kUnsupported, "unsupported"},
      {kIo, "io"},           {kCancelled, "cancelled"}, {kInternal, "internal"},
      {kTimeout, "timeout"}, {kMemory, "memory"}};
};

}  // namespace ounce

namespace ounce::report {

// A field of an options struct that a message names: {"format", "int8"}; the value may be empty.
struct FieldRef {
  std::string field, value;
};

struct Failure {
  int exit_code = 0;
  std::string message;  // one line; empty: no error
  ErrorCode code = ErrorCode::kInternal;
  std::vector<FieldRef> fields = {};  // named in the message
  std::string id = {};                // "OUN701", see messages.h

  bool empty() const { return message.empty(); }
  std::string line() const { return id.empty() ? message : message + " [" + id + "]"; }
};

template <class Result>
struct Row {
  std::filesystem::path model;
  Result result;
  Failure error;
  int exit_code = 0;  // of the error, or of an exceeded threshold
};

// "ONNX Runtime 1.22.0", or the evaluator of ML Programs, whose version says that it is not Apple's runtime.
std::string runtime_text(const std::string& version);

}  // namespace ounce::report
