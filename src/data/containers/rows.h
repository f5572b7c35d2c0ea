// Parses rows of tables: CSV, JSONL, and columns that form one vector.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace ounce::data {

// True if the text names several fields, whose values form one vector:
//
//   "f0,f1,f2"     "f0..f9" (f0, f1 … f9)     "age,f0..f9"     "sepal_length..petal_width"
bool names_columns(const std::string& text);

// The names of these fields. If both ends of a range are the same word with a number, the range counts up,
// with leading zeros if the first number has them. Any other range means all fields between its ends in the
// order of `fields`; it is not resolved if `fields` is empty. Throws Error{kUsage} for an invalid range.
std::vector<std::string> columns_of(const std::string& text, const std::vector<Field>& fields);

// Concatenates the numbers of all columns. Throws Error{kBadInput} with the name of a column that is missing
// or is not a number.
Tensor join_columns(const Sample& sample, const std::vector<std::string>& columns, const std::string& where);

// Rows of CSV follow RFC 4180: quoted cells may contain commas, line ends and doubled quotes. Lines end with
// LF or CRLF.
//
// Finds the end of the row that begins at `begin`: its LF, or the end of the text. Returns nothing if a
// quoted cell has no closing quote.
std::optional<std::size_t> csv_row_end(std::string_view text, std::size_t begin);

// Splits a row (without its LF) into cells. Throws Error{kBadInput}.
std::vector<std::string> split_csv_row(std::string_view row);

// One line of a JSONL file: an object whose members become named tensors.
//
//   {"file": "a.jpg", "label": 3, "box": [[0.1, 0.2], [0.5, 0.9]]}
//
// Integers become int64, other numbers float32. Rectangular arrays of numbers, strings or booleans become
// tensors. Arrays and objects with other content become strings of JSON. A member that is null is ignored.
// Returns the members sorted by name. Throws Error{kBadInput}.
std::vector<NamedTensor> read_json_row(std::string_view line);

}  // namespace ounce::data
