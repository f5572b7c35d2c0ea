// The support matrix of ONNX Runtime: how each release runs each op, measured (tools/support_matrix).
//
//   op ai.onnx ConvInteger 10 | T1 T2 | spatial zero_points | T1 T2 T1? T2? -> T3
//   ------------++++++ ------------++++++ int8/int8,uint8/int8 spatial=2 zero_points=none
//
// A line has one answer per column (a release on a machine) for bindings of the op's type variables in one
// variant. Everything that is not in the text is unknown.
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
  kRight = '+',      // runs in a kernel of this type, with the right result
  kCast = '~',       // right result, but no kernel of this type: converted to another type and back
  kExpanded = 'f',   // right result, but no kernel: expanded into other ops
  kUnchecked = '=',  // runs; no reference result
  kWrong = '!',      // runs, with a wrong result
  kNoKernel = '-',   // does not load: not implemented
  kRefused = 'x',    // does not load, for another reason
  kFails = 'r',      // loads, but fails at run time
  kCrashes = 'c',
  kUnknown = '?',
};

struct Release {
  std::string_view machine, version;             // "x64", "1.30.0"
  std::int64_t opset = 0, ml_opset = 0, ir = 0;  // the newest versions that it loads
  std::string_view digest;                       // of its library's file
  std::size_t place = 0;                         // position of its answer in a line
};

class SupportMatrix {
 public:
  // The matrix that is built into this program.
  static const SupportMatrix& measured();
  // Keeps references to `text`. Throws Error{kInternal} for an invalid text.
  explicit SupportMatrix(std::string_view text);

  std::string_view date() const { return date_; }
  const std::vector<Release>& releases() const { return releases_; }  // the columns
  // The column of a version, or of the measured patch of the same minor version.
  std::optional<std::size_t> find(std::string_view machine, std::string_view version) const;

  struct Dimension {
    std::string_view name, otherwise;  // `otherwise`: the default value if it is an attribute
  };
  struct Line {
    std::string_view answers;  // of all releases; machines are separated by spaces
    std::string_view bindings, variant;
  };
  struct Group {
    std::string_view op_type;
    std::int64_t since = 0;
    std::vector<std::string_view> variables, inputs, outputs;
    std::vector<Dimension> dimensions;
    std::vector<Line> lines;

    // The type of input or output `i` in the signature, without marks such as `?`.
    static std::string_view parameter(const std::vector<std::string_view>& list, std::size_t i);
  };
  // The op in this version of its domain; nullopt if the matrix does not have it.
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

// The text of the support matrix that is built into this program.
std::string_view support_text();

}  // namespace ounce::target
