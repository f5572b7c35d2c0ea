#include "data/csv.h"

#include <ounce/error.h>

#include <algorithm>

namespace ounce::data {
namespace {

// Takes a cell in quotes, and the quotes, from the front of `rest`.
std::string take_quoted(std::string_view& rest) {
  std::string cell;
  while (true) {
    rest.remove_prefix(1);
    const std::size_t quote = rest.find('"');
    if (quote == std::string_view::npos) throw Error(ErrorCode::kBadInput, "a quote is never closed");
    cell += rest.substr(0, quote);
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) break;
    cell += '"';
  }
  if (!rest.empty() && !rest.starts_with(',')) {
    throw Error(ErrorCode::kBadInput,
                "something follows a closing quote; double the quotes inside of a cell");
  }
  return cell;
}

std::string take_plain(std::string_view& rest) {
  const std::string_view cell = rest.substr(0, rest.find(','));
  rest.remove_prefix(cell.size());
  return std::string(cell);
}

}  // namespace

std::optional<std::size_t> csv_row_end(std::string_view text, std::size_t begin) {
  bool is_quoted = false, is_cell_start = true;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted) {
      // Of a doubled quote the first closes and the second opens again.
      if (c == '"') is_quoted = false, is_cell_start = i + 1 < text.size() && text[i + 1] == '"';
      continue;
    }
    if (c == '\n') return i;
    is_quoted = is_cell_start && c == '"';
    is_cell_start = c == ',';
  }
  if (is_quoted) return std::nullopt;
  return text.size();
}

std::vector<std::string> split_csv_row(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> cells;
  while (true) {
    cells.push_back(row.starts_with('"') ? take_quoted(row) : take_plain(row));
    if (row.empty()) return cells;
    row.remove_prefix(1);  // the comma
  }
}

}  // namespace ounce::data
