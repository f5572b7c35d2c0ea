// Several fields that make one vector, as tables of numbers have them: a column for each feature.
//
//   "f0,f1,f2"     "f0..f9" (f0, f1 … f9)     "age,f0..f9"     "sepal_length..petal_width"
//
// A range counts where both ends are the same word with a number behind it, with zeros in front if the first
// has them; otherwise it is the fields from one to the other, in the order they stand in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "data/tensor.h"

namespace ounce::data {

bool names_columns(const std::string& text);

// Ranges over fields in their order need `fields`, and stay as they are without. Throws Error{kUsage} for a
// range that makes no sense.
std::vector<std::string> columns_of(const std::string& text, const std::vector<Field>& fields);

// The numbers of all of them, one behind the other. Throws Error{kBadInput} naming the one that is missing,
// or is no number.
Tensor join_columns(const Sample& sample, const std::vector<std::string>& columns, const std::string& where);

// Rows of comma-separated values as RFC 4180 has them: cells in quotes may hold commas, line ends and,
// doubled, quotes. Lines end with LF or CRLF.

// Where the row ends that begins at `begin`: at its LF, or at the end of the text. Nothing when a quote in it
// is never closed.
std::optional<std::size_t> csv_row_end(std::string_view text, std::size_t begin);

// The cells of a row, which comes without its LF. Throws Error{kBadInput}.
std::vector<std::string> split_csv_row(std::string_view row);

// One line of a JSONL file: an object whose members become named tensors.
//
//   {"file": "a.jpg", "label": 3, "box": [[0.1, 0.2], [0.5, 0.9]]}
//
// Integers become int64, other numbers float32, and arrays of them (of any depth, but rectangular) tensors,
// as do arrays of strings and of booleans. What holds objects or nulls stays JSON, as a string; a null alone
// means that the row has no such member.

// Sorted by name. Throws Error{kBadInput}.
std::vector<NamedTensor> read_json_row(std::string_view line);

}  // namespace ounce::data
