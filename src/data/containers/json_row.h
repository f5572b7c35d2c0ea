// One line of a JSONL file: an object whose members become named tensors.
//
//   {"file": "a.jpg", "label": 3, "box": [[0.1, 0.2], [0.5, 0.9]]}
//
// Integers become int64, other numbers float32, and arrays of them (of any depth, but rectangular) tensors,
// as do arrays of strings and of booleans. What holds objects or nulls stays JSON, as a string; a null alone
// means that the row has no such member.
#pragma once

#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// Sorted by name. Throws Error{kBadInput}.
std::vector<NamedTensor> read_json_row(std::string_view line);

}  // namespace ounce::data
