// Text of others as people may see it: names in a model, its metadata, file names, what a program said.
//
// A terminal obeys what it is shown, so nothing that it could obey gets there, and no name can look like a
// line of ours. Everything that is printed goes through one of these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ounce {

// Does it hold any of ASCII's control characters?
bool has_control_characters(std::string_view text);

// Control characters, those that change the direction of writing, and bytes that are no UTF-8 as C writes
// them:
// "\x1b", "\n", "\u202e". On one line, and for a regular expression (RE2) still the same.
std::string escaped(std::string_view text);

// For reading: escaped, and what is too long to read is cut: a word "name… (20,000 characters)", or all of
// it.
std::string plain(std::string_view text);

// The log of a build service obeys lines, too: GitHub Actions runs "::error::…" at the beginning of a line,
// after any blanks, and "##[…]" anywhere in it; Azure Pipelines and TeamCity run "##vso[…]" and
// "##teamcity[…]". The two functions below escape the first character of these: "\x3a:error", "\x23#[".

// A JSON text with all of that in JSON's own escapes: the same document.
std::string escaped_json(std::string_view json);

// Lines of ours with whatever is left in them: escaped, but for the line breaks.
std::string escaped_lines(std::string_view text);

// A word as a shell takes it, for command lines that people paste.

// As it is if it is plain, else in single quotes.
std::string quoted(const std::string& word);

// "Did you mean …?"

// The candidate that is a typing error away from `word`; empty when none is that near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Bytes as text, for JSON and for pages (RFC 4648, with padding).

std::string base64(std::string_view bytes);
bool is_base64(std::string_view text);  // as base64() writes it

}  // namespace ounce
