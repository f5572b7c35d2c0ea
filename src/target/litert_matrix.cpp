#include "target/litert_matrix.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>

#include "target/target.h"

asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_litert_text:\n"
    ".incbin \"" OUNCE_LITERT_FILE
    "\"\n"
    "ounce_litert_text_end:\n"
    ".previous\n");
extern "C" const char ounce_litert_text[], ounce_litert_text_end[];

namespace ounce::target {
namespace {

[[noreturn]] void refuse_litert_line(std::string_view line) {
  throw Error(ErrorCode::kInternal,
              fmt::format("the support matrix of LiteRT has an invalid line: '{}'", line));
}

std::int64_t version_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) refuse_litert_line(text);
  return number;
}

// True if a list of the text matches these types. An omitted input ("-", or missing at the end) matches.
bool takes(std::string_view list, const std::vector<std::string>& types) {
  const std::vector<std::string_view> wanted = words_of(list, ",");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool is_variadic = !wanted.empty() && wanted.back().ends_with('*');
    if (i >= wanted.size() && !is_variadic) return false;
    std::string_view type = wanted[std::min(i, wanted.size() - 1)];
    if (type.ends_with('*')) type.remove_suffix(1);
    if (types[i] != "-" && types[i] != type) return false;
  }
  return true;
}

}  // namespace

std::string LitertRelease::text() const {
  return fmt::format("{} {}", runtime == "litert" ? "LiteRT" : "TensorFlow Lite", version);
}

const LitertMatrix& LitertMatrix::measured() {
  static const LitertMatrix matrix(
      {ounce_litert_text, static_cast<std::size_t>(ounce_litert_text_end - ounce_litert_text)});
  return matrix;
}

LitertMatrix::LitertMatrix(std::string_view text) {
  Op* op = nullptr;
  bool is_among_ops = false;
  for (const std::string_view line : words_of(text, "\n")) {
    const auto words = words_of(line);
    if (line.starts_with("column ")) {
      if (words.size() != 5) refuse_litert_line(line);
      releases_.push_back({words[1], words[2], words[3], words[4].substr(words[4].find('=') + 1)});
    } else if (line.starts_with("measured ")) {
      date_ = words.back();
    } else if (line == "operators") {
      is_among_ops = true;
    } else if (line.starts_with("op ")) {
      if (words.size() != 2 + releases_.size()) refuse_litert_line(line);
      op = &ops_[words[1]];
      for (std::size_t i = 2; i < words.size(); ++i) op->versions.push_back(version_number(words[i]));
    } else if (is_among_ops) {
      if (op == nullptr || words.size() != 2 || words[0].size() != releases_.size() ||
          words[1].find("->") == std::string_view::npos)
        refuse_litert_line(line);
      op->lines.push_back({words[0], words[1]});
    }
  }
  if (!is_among_ops || releases_.empty()) refuse_litert_line(text.substr(0, text.find('\n')));
}

std::optional<std::size_t> LitertMatrix::find(std::string_view machine, std::string_view runtime,
                                              std::string_view version) const {
  const auto minor_of = [](std::string_view text) {
    return std::count(text.begin(), text.end(), '.') == 2 ? text.substr(0, text.rfind('.')) : text;
  };
  std::optional<std::size_t> same_minor;
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    if (releases_[i].machine != machine || releases_[i].runtime != runtime) continue;
    if (releases_[i].version == version) return i;
    if (minor_of(releases_[i].version) == minor_of(version)) same_minor = i;
  }
  return same_minor;
}

std::optional<std::size_t> LitertMatrix::newest(std::string_view machine) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    if (releases_[i].machine == machine) found = i;  // releases are sorted
  }
  return found;
}

const LitertMatrix::Op* LitertMatrix::find_op(std::string_view name) const {
  const auto found = ops_.find(name);
  return found == ops_.end() ? nullptr : &found->second;
}

const LitertMatrix::Line* LitertMatrix::find_line(const Op& op, const std::vector<std::string>& inputs,
                                                  const std::vector<std::string>& outputs) {
  for (const Line& line : op.lines) {
    const std::size_t arrow = line.types.find("->");
    if (takes(line.types.substr(0, arrow), inputs) && takes(line.types.substr(arrow + 2), outputs))
      return &line;
  }
  return nullptr;
}

}  // namespace ounce::target
