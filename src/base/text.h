// Untrusted text made safe to print: names in a model, its metadata, file names, output of other programs.
//
// A terminal obeys control characters, so none may reach it, and no name may look like a line of our own
// output. Everything that is printed goes through one of these functions. Also: words for a shell, the
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

// True if the text has one of ASCII's control characters.
bool has_control_characters(std::string_view text);

// Writes control characters, those that change the direction of writing, and bytes that are no UTF-8 as in C:
// "\x1b", "\n", "\u202e". The result is one line, and as a regular expression (RE2) it matches the same text.
std::string escaped(std::string_view text);

// For reading: escaped, and words and texts that are too long are cut: "name… (20,000 characters)".
std::string plain(std::string_view text);

// The log of a build service obeys lines: GitHub Actions runs "::error::…" at the beginning of a line,
// after any blanks, and "##[…]" anywhere in it; Azure Pipelines and TeamCity run "##vso[…]" and
// "##teamcity[…]". The two functions below escape the first character of these: "\x3a:error", "\x23#[".

// The same JSON document, with all of these in JSON's escapes.
std::string escaped_json(std::string_view json);

// Lines of our own output: escaped, except for the line breaks.
std::string escaped_lines(std::string_view text);

// The output of another program on one line, without control characters.
std::string on_one_line(std::string_view text);

// A word as a shell takes it, for command lines to paste: unchanged if it is plain, else in single quotes.
std::string quoted(const std::string& word);

// The edits (insertions, deletions, replacements) that turn one sequence into the other.
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

// For "Did you mean …?": the candidate that is a typing error away from `word`; empty when none is that near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Bytes as text, for JSON and for HTML (RFC 4648, with padding).
std::string base64(std::string_view bytes);
bool is_base64(std::string_view text);  // as base64() writes it

}  // namespace ounce
