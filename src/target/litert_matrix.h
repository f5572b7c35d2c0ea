// The support matrix of LiteRT and TensorFlow Lite: how each release runs each operator, measured
// (tools/support_matrix/litert).
//
//   column x64 litert 2.3.0 sha256=…
//   op ADD 4 6                              the newest supported version of the operator in each column
//   b+ int8,int8->int8                      one answer per column, and the types
//
// Types are those of the inputs and outputs in order. `int8:channel` has per-channel scales, `int4:block`
// per-block scales; `*` means any number of further inputs of the same type. An input that a model omits
// matches any type. Everything that is not in the text is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::target {

// Characters of the text.
enum class LitertAnswer : char {
  kXnnpack = '+',  // XNNPACK runs it, with the right result
  kBuiltIn = 'b',  // a built-in kernel of TFLite runs it, with the right result
  kWrong = '!',    // runs, with a wrong result
  kRefused = 'x',  // does not load
  kFails = 'r',    // loads, but fails at run time
  kCrashes = 'c',  // crashes or hangs
  kUnknown = '?',
};

struct LitertRelease {
  std::string_view machine, runtime, version;  // "x64", "litert", "2.3.0"
  std::string_view digest;                     // of its library's file

  std::string text() const;  // "LiteRT 2.3.0"
};

class LitertMatrix {
 public:
  // The matrix that is built into this program.
  static const LitertMatrix& measured();
  // Keeps references to `text`. Throws Error{kInternal} for an invalid text.
  explicit LitertMatrix(std::string_view text);

  std::string_view date() const { return date_; }
  // The columns: for each machine from the oldest to the newest release.
  const std::vector<LitertRelease>& releases() const { return releases_; }
  // The column of a version, or of the measured patch of the same minor version.
  std::optional<std::size_t> find(std::string_view machine, std::string_view runtime,
                                  std::string_view version) const;
  // The newest column of a machine.
  std::optional<std::size_t> newest(std::string_view machine) const;

  struct Line {
    std::string_view answers, types;
  };
  struct Op {
    std::vector<std::int64_t> versions;  // newest version in each column; 0: not supported
    std::vector<Line> lines;
  };
  // Null if the operator was not measured.
  const Op* find_op(std::string_view name) const;
  // The line for these types; null if they were not measured.
  static const Line* find_line(const Op& op, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs);

 private:
  std::string_view date_;
  std::vector<LitertRelease> releases_;
  std::map<std::string_view, Op> ops_;
};

}  // namespace ounce::target
