// The arguments of one operation of an ML Program.
//
//   std::vector<Array> transpose(const Call& call) {
//     const Array& x = call.array("x");
//     const std::vector<std::int64_t> perm = call.integers("perm");
//     return one(transposed(x, perm));
//   }
//
// Programs are untrusted: any input may be missing or have another type or rank. So every accessor throws
// Error{kBadInput} with the names of the operation and the input.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/mil/array.h"

namespace ounce::mil {

class Call {
 public:
  std::string type;  // "conv"
  std::string name;  // of the first output, for messages
  std::map<std::string, std::vector<ArrayPtr>, std::less<>>
      inputs;                             // several values, for example `values` of concat
  std::vector<ElementType> output_types;  // as declared

  const Array& array(std::string_view input) const;
  const Array* find(std::string_view input) const;    // null if absent
  const Array& floats(std::string_view input) const;  // an array of floats
  std::span<const ArrayPtr> list(std::string_view input) const;

  std::vector<std::int64_t> integers(std::string_view input) const;
  std::optional<std::vector<std::int64_t>> find_integers(std::string_view input) const;
  std::int64_t integer(std::string_view input, std::optional<std::int64_t> otherwise = {}) const;
  float number(std::string_view input, std::optional<float> otherwise = {}) const;
  bool flag(std::string_view input, bool otherwise) const;
  std::string text(std::string_view input, std::string_view otherwise) const;

  // Converts an axis of an array of `rank`; negative axes are counted from the end.
  std::size_t axis(std::int64_t given, std::size_t rank) const;
  std::size_t axis_of(std::string_view input, std::size_t rank,
                      std::optional<std::int64_t> otherwise = {}) const;
  // Several axes, or all if the input is absent.
  std::vector<std::size_t> axes_of(std::string_view input, std::size_t rank) const;

  [[noreturn]] void fail(const std::string& why) const;
  void require(bool condition, const char* why) const {
    if (!condition) fail(why);
  }
};

// Throws the errors of Call.
using Function = std::vector<Array> (*)(const Call&);

// The result of an operation with one output.
inline std::vector<Array> one(Array array) {
  std::vector<Array> results;
  results.push_back(std::move(array));
  return results;
}

struct Operation {
  std::string_view name;
  Function function;
};

// The operations that can be evaluated, in groups by file.
std::span<const Operation> elementwise_operations();
std::span<const Operation> shape_operations();
std::span<const Operation> index_operations();
std::span<const Operation> reduce_operations();
std::span<const Operation> norm_operations();
std::span<const Operation> conv_operations();
std::span<const Operation> product_operations();
std::span<const Operation> resize_operations();
std::span<const Operation> recurrent_operations();
std::span<const Operation> weight_operations();

// Null if the operation is not supported.
Function find_operation(std::string_view name);

}  // namespace ounce::mil
