// What each release of ONNX Runtime makes of each op, measured by running it (tools/support_matrix).
//
//   op ai.onnx ConvInteger 10 | T1 T2 | spatial zero_points | T1 T2 T1? T2? -> T3
//   ------------++++++ ------------++++++ int8/int8,uint8/int8 spatial=2 zero_points=none
//
// A line holds one answer a column (a release on a machine) for some bindings of the op's type variables in
// one variant. Nothing that is not in the text is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::target {

// Characters of the text.
enum class Answer : char {
  kRight = '+',      // runs in a kernel of its own type, with the right result
  kCast = '~',       // … but converted around it, as there is no such kernel
  kExpanded = 'f',   // … but taken apart into other ops, as there is no such kernel
  kUnchecked = '=',  // runs; nothing to compare its result with
  kWrong = '!',      // runs, with a wrong result
  kNoKernel = '-',   // does not load: not implemented
  kRefused = 'x',    // does not load, for another reason
  kFails = 'r',      // loads, and fails when it runs
  kCrashes = 'c',
  kUnknown = '?',
};

struct Release {
  std::string_view machine, version;             // "x64", "1.30.0"
  std::int64_t opset = 0, ml_opset = 0, ir = 0;  // the highest it loads
  std::string_view digest;                       // of its library's file
  std::size_t place = 0;                         // of its answer among those of a line
};

class SupportMatrix {
 public:
  // The one that this program was built with.
  static const SupportMatrix& measured();
  // Views of `text` are kept. Throws Error{kInternal} for text that is none.
  explicit SupportMatrix(std::string_view text);

  std::string_view date() const { return date_; }
  const std::vector<Release>& releases() const { return releases_; }  // the columns
  // The column of a version, or of the measured patch of the same minor version.
  std::optional<std::size_t> find(std::string_view machine, std::string_view version) const;

  struct Dimension {
    std::string_view name, otherwise;  // an attribute's default, if it is one
  };
  struct Line {
    std::string_view answers;  // of all releases, with spaces between machines
    std::string_view bindings, variant;
  };
  struct Group {
    std::string_view op_type;
    std::int64_t since = 0;
    std::vector<std::string_view> variables, inputs, outputs;
    std::vector<Dimension> dimensions;
    std::vector<Line> lines;

    // The type of an input or output in the signature, without its marks.
    static std::string_view parameter(const std::vector<std::string_view>& list, std::size_t i);
  };
  // The op as this version of its domain has it; nothing when the matrix does not have it.
  std::optional<Group> find_group(std::string_view domain, std::string_view op_type,
                                  std::int64_t version) const;

 private:
  struct Place {
    std::string_view domain, op_type;
    std::int64_t since;
    std::size_t begin, end;  // in the text
  };
  Group parse(const Place& place) const;

  std::string_view text_, date_;
  std::vector<Release> releases_;
  std::size_t machines_ = 0;
  std::vector<Place> places_;  // sorted by domain, op and version
};

// The text of the support matrix, as the assembler put it into this program.

std::string_view support_text();

}  // namespace ounce::target
