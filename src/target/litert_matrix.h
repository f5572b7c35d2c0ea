// What each release of LiteRT and TensorFlow Lite makes of each operator, measured by running it
// (tools/support_matrix/litert).
//
//   column x64 litert 2.3.0 sha256=…
//   op ADD 4 6                              the newest version of the operator, one for each column
//   b+ int8,int8->int8                      one answer for each column, and the types
//
// Types are those of the inputs and outputs in their order. `int8:channel` has a scale for each channel,
// `int4:block` one for each block; behind `*` come more of the same type. An input that a model leaves out
// matches any type. Nothing that is not in the text is known.
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
  kBuiltIn = 'b',  // a kernel of TFLite runs it, with the right result
  kWrong = '!',    // runs, with a wrong result
  kRefused = 'x',  // does not load
  kFails = 'r',    // loads, and fails when it runs
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
  // The one that this program was built with.
  static const LitertMatrix& measured();
  // Views of `text` are kept. Throws Error{kInternal} for text that is none.
  explicit LitertMatrix(std::string_view text);

  std::string_view date() const { return date_; }
  // The columns: of each machine from the oldest to the newest.
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
    std::vector<std::int64_t> versions;  // the newest that each column has; 0: none
    std::vector<Line> lines;
  };
  // Null for an operator that was not measured.
  const Op* find_op(std::string_view name) const;
  // The line for these types; null: they were not measured.
  static const Line* find_line(const Op& op, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs);

 private:
  std::string_view date_;
  std::vector<LitertRelease> releases_;
  std::map<std::string_view, Op> ops_;
};

}  // namespace ounce::target
