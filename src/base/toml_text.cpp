// toml++ 3.3 has assertions (or assumptions, with NDEBUG) that untrusted text may violate: "[!a]". With
// assertions disabled in this way, it reports the underlying errors.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_IMPLEMENTATION
#include "base/toml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ounce {
namespace {

// Rejects non-ASCII characters outside of comments and strings, where TOML is ASCII: at U+FB26 to U+FEFE
// toml++ 3.3 reaches code marked as unreachable. Also limits the depth: brackets nest, and so do dotted keys
// (a.b.c = 1 is three tables deep).
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t deepest) : text_(text), deepest_(deepest) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  void look_between_strings() {
    char before = '\n';  // the last character that is not a blank
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) >= 0x80) refuse();
      count(c);
      // A quote in any other place is an error and does not start a string.
      const bool may_begin = std::string_view("\n=,[{.").find(before) != std::string_view::npos;
      const char was = before;
      if (c != ' ' && c != '\t') before = c;
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if ((c == '"' || c == '\'') && may_begin) {
        skip_string(c, was);
      } else {
        ++at_;
      }
    }
  }

 private:
  void count(char c) {
    const bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    if (opens) ++brackets_;
    if (closes && brackets_ > 0) --brackets_;
    if (c == '.') ++dots_;
    if (opens || closes || std::string_view("=,#\n").find(c) != std::string_view::npos) dots_ = 0;
    if (brackets_ > deepest_ || dots_ > deepest_)
      throw TomlError(fmt::format("is nested more than {} deep", deepest_));
  }

  // After a dot only a key may be a string: in 1."…" the parser continues to look for the end of a value.
  void skip_string(char quote, char before) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (is_long ? text_.substr(at_).starts_with(three) : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        return;
      }
      if (!is_long && text_[at_] == '\n') return;  // unterminated; the parser reports it
      if (before == '.' && text_[at_] == '\xef') refuse();
      if (quote == '"' && text_[at_] == '\\') {
        skip_escape();
      } else {
        ++at_;
      }
    }
  }

  // A backslash at the end of a line also skips the blanks of the following lines.
  void skip_escape() {
    ++at_;
    const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    const bool is_line_end = next != at_;
    at_ = is_line_end ? next : at_ + 1;
    if (is_line_end && at_ + 1 < text_.size() && text_[at_] == '\xef') refuse();
  }

  [[noreturn]] void refuse() const {
    const std::string_view before = text_.substr(0, at_);
    const std::size_t line_begin = before.find_last_of('\n') + 1;  // npos + 1 is 0
    throw TomlError("non-ASCII characters are allowed only in quoted strings",
                    1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
                    1 + at_ - line_begin);
  }

  std::string_view text_;
  std::size_t deepest_, at_ = 0, brackets_ = 0, dots_ = 0;
};

}  // namespace

TomlError::TomlError(std::string_view why, std::size_t at_line, std::size_t at_column)
    : std::runtime_error(on_one_line(why)), line(at_line), column(at_column) {}

toml::table parse_toml(std::string_view text, const TomlLimits& limits) {
  if (text.size() > limits.bytes) throw TomlError(fmt::format("is longer than {} bytes", limits.bytes));
  Scanner(text, limits.depth).look_between_strings();
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw TomlError(error.description(), error.source().begin.line, error.source().begin.column);
  }
}

}  // namespace ounce
