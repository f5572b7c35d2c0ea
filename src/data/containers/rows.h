// Rows of tables: columns that make one vector, lines of CSV and of JSONL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// True for a text that names several fields, which make one vector:
//
//   "f0,f1,f2"     "f0..f9" (f0, f1 … f9)     "age,f0..f9"     "sepal_length..petal_width"
bool names_columns(const std::string& text);

// The fields that such a text names. If both ends of a range are the same word with a number, the range
// counts, with leading zeros if the first number has them. Other ranges are the fields from one to the other
// in the order of `fields`, and are not resolved if it is empty. Throws Error{kUsage} for an invalid range.
std::vector<std::string> columns_of(const std::string& text, const std::vector<Field>& fields);

// The numbers of all of them, one behind the other. Throws Error{kBadInput} naming the one that is missing,
// or is no number.
Tensor join_columns(const Sample& sample, const std::vector<std::string>& columns, const std::string& where);

// Rows of comma-separated values follow RFC 4180: cells in quotes may hold commas, line ends and doubled
// quotes. Lines end with LF or CRLF.
//
// The end of the row that begins at `begin`: its LF, or the end of the text. Nothing when a quote in it is
// never closed.
std::optional<std::size_t> csv_row_end(std::string_view text, std::size_t begin);

// The cells of a row, which comes without its LF. Throws Error{kBadInput}.
std::vector<std::string> split_csv_row(std::string_view row);

// One line of a JSONL file: an object whose members become named tensors.
//
//   {"file": "a.jpg", "label": 3, "box": [[0.1, 0.2], [0.5, 0.9]]}
//
// Integers become int64, other numbers float32, and rectangular arrays of numbers, strings or booleans
// tensors. Values with objects or nulls become strings of JSON; a null alone means that the row has no such
// member. Sorted by name. Throws Error{kBadInput}.
std::vector<NamedTensor> read_json_row(std::string_view line);

}  // namespace ounce::data
