#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ounce {
namespace {

constexpr std::size_t kLongestWord = 200, kLongestText = 4000;  // characters
constexpr std::size_t kWordStart = 100;                         // shown characters of a longer word

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The first character of a nonempty text.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool is_short = code >= (length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (!is_short || is_surrogate || code > 0x10ffff) return {};
  return {code, length};
}

bool is_obeyed(std::uint32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool breaks_lines = code == 0x2028 || code == 0x2029;
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                     (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return is_control || breaks_lines || turns || code == 0xfeff;
}

std::string written(std::uint32_t code) {
  switch (code) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

// Replaces each character that a terminal would interpret by write(…).
template <class Write>
std::string rewritten(std::string_view text, const Write& write) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    if (next.bytes != 0 && !is_obeyed(next.code)) {
      out += text.substr(0, bytes);
    } else {
      out += write(next.bytes == 0 ? static_cast<unsigned char>(text[0]) : next.code, next.bytes == 0);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

// Escapes the start of each build service command: "::" after only blanks, and "##word[".
template <class Write>
std::string without_log_commands(std::string_view text, const Write& write) {
  std::string out;
  out.reserve(text.size());
  bool is_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const char c = text[i];
    bool is_command = is_start && rest.starts_with("::");
    if (rest.starts_with("##")) {
      const std::size_t end =
          rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 2);
      is_command = is_command || (end != std::string_view::npos && rest[end] == '[');
    }
    if (is_command) {
      out += write(static_cast<std::uint32_t>(c));
    } else {
      out += c;
    }
    // Some services also skip Unicode blanks, none of which is ASCII.
    const bool is_blank = c == ' ' || static_cast<unsigned char>(c) >= 0x80;
    is_start = c == '\n' || (is_start && is_blank);
  }
  return out;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

// Its first `characters` characters.
std::string_view start_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (at < text.size() && characters-- != 0) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
  }
  return text.substr(0, at);
}

// "12,345".
std::string with_commas(std::size_t number) {
  if (number < 1000) return fmt::format("{}", number);
  return fmt::format("{},{:03}", with_commas(number / 1000), number % 1000);
}

std::string cut(std::string_view text, std::size_t most, std::size_t shown) {
  const std::size_t characters = characters_in(text);
  if (characters <= most) return escaped(text);
  return fmt::format("{}… ({} characters)", escaped(start_of(text, shown)), with_commas(characters));
}

}  // namespace

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string escaped(std::string_view text) {
  return rewritten(text, [](std::uint32_t code, bool) { return written(code); });
}

std::string escaped_lines(std::string_view text) {
  const std::string lines =
      rewritten(text, [](std::uint32_t code, bool) { return code == '\n' ? "\n" : written(code); });
  return without_log_commands(lines, [](std::uint32_t code) { return fmt::format("\\x{:02x}", code); });
}

std::string escaped_json(std::string_view json) {
  const auto as_json = [](std::uint32_t code) { return fmt::format("\\u{:04x}", code); };
  const std::string text = rewritten(json, [&](std::uint32_t code, bool is_byte) {
    if (is_byte) return std::string("\xef\xbf\xbd");  // replacement character for invalid bytes
    const bool is_blank = code == '\n' || code == '\t' || code == '\r';
    return is_blank ? std::string(1, static_cast<char>(code)) : as_json(code);
  });
  return without_log_commands(text, as_json);  // in JSON both occur only in strings
}

std::string plain(std::string_view text) {
  std::string words;
  for (std::size_t at = 0; at < text.size() && words.size() < 4 * kLongestText;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words += cut(text.substr(at, end - at), kLongestWord, kWordStart);
    if (end < text.size()) words += ' ';
    at = end + 1;
  }
  if (characters_in(words) <= kLongestText) return words;
  return fmt::format("{}… ({} characters)", start_of(words, kLongestText), with_commas(characters_in(text)));
}

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_gap = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!is_gap) line += c;
    if (is_gap && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

namespace {

bool is_same_letter(char a, char b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b);
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // With two edits, any short word would match any other.
  const std::size_t most = word.size() < 3    ? 0
                           : word.size() == 3 ? 1
                                              : std::max<std::size_t>(2, word.size() / 3);
  std::size_t distance = most + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t edits = edit_distance(word, std::string_view(candidate), is_same_letter);
    if (edits >= distance) continue;
    distance = edits;
    best = candidate;
  }
  return best;
}

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return text.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace ounce
