// Rows of comma-separated values as RFC 4180 has them: cells in quotes may hold commas, line ends and,
// doubled, quotes. Lines end with LF or CRLF.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::data {

// Where the row ends that begins at `begin`: at its LF, or at the end of the text. Nothing when a quote in it
// is never closed.
std::optional<std::size_t> csv_row_end(std::string_view text, std::size_t begin);

// The cells of a row, which comes without its LF. Throws Error{kBadInput}.
std::vector<std::string> split_csv_row(std::string_view row);

}  // namespace ounce::data
