// Makes untrusted text safe to print: names in a model, its metadata, file names, output of other programs.
//
// Terminals interpret control characters, so none may be printed, and no name may look like a line of Ounce's
// own output. All printed text must pass through one of these functions. Also: quoting for shells, the
// nearest spelling, and base64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace ounce {

// True if the text contains ASCII control characters.
bool has_control_characters(std::string_view text);

// Escapes control characters, characters that change the text direction, and bytes that are not UTF-8 as in
// C: "\x1b", "\n", "\u202e". The result is one line, and as a regular expression (RE2) it matches the same
// text.
std::string escaped(std::string_view text);

// For display: escaped, with long words and texts truncated: "name… (20,000 characters)".
std::string plain(std::string_view text);

// Build services interpret log lines: GitHub Actions runs "::error::…" at the start of a line, after any
// spaces, and "##[…]" anywhere; Azure Pipelines and TeamCity run "##vso[…]" and "##teamcity[…]". The two
// functions below escape the first character of these: "\x3a:error", "\x23#[".

// Returns the same JSON document with all of these in JSON escapes.
std::string escaped_json(std::string_view json);

// For lines of Ounce's own output: escaped, except for line breaks.
std::string escaped_lines(std::string_view text);

// The output of another program as one line without control characters.
std::string on_one_line(std::string_view text);

// Quotes a word for a shell, for command lines to paste: unchanged if it is plain, else in single quotes.
std::string quoted(const std::string& word);

// The number of edits (insertions, deletions, replacements) that turn one sequence into the other.
template <class List, class Same = std::equal_to<>>
std::size_t edit_distance(const List& a, const List& b, const Same& same = {}) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// For "Did you mean …?": the candidate within a typing error of `word`; empty if none is that close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Base64 for JSON and HTML (RFC 4648, with padding).
std::string base64(std::string_view bytes);
bool is_base64(std::string_view text);  // as base64() writes it

}  // namespace ounce
