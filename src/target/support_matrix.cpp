#include "target/support_matrix.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "target/target.h"

// Embed the file with the assembler, so that no generated source is needed.
asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_support_text:\n"
    ".incbin \"" OUNCE_SUPPORT_FILE
    "\"\n"
    "ounce_support_text_end:\n"
    ".previous\n");
extern "C" const char ounce_support_text[], ounce_support_text_end[];

namespace ounce::target {
namespace {

[[noreturn]] void refuse_line(std::string_view line) {
  throw Error(ErrorCode::kInternal, fmt::format("the support matrix has an invalid line: '{}'", line));
}

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) refuse_line(text);
  return number;
}

std::vector<std::string_view> list_of(std::string_view text) {
  return text == "-" ? std::vector<std::string_view>() : words_of(text);
}

std::string_view minor_of(std::string_view version) {
  const std::size_t last = version.rfind('.');
  return std::count(version.begin(), version.end(), '.') == 2 ? version.substr(0, last) : version;
}

}  // namespace

const SupportMatrix& SupportMatrix::measured() {
  static const SupportMatrix matrix(support_text());
  return matrix;
}

SupportMatrix::SupportMatrix(std::string_view text) : text_(text) {
  std::size_t at = 0;
  bool is_among_ops = false;
  std::vector<std::string_view> machines;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("op ")) {
      const auto words = words_of(line.substr(0, line.find('|')));
      if (words.size() != 4) refuse_line(line);
      if (!places_.empty()) places_.back().end = at;
      places_.push_back({words[1] == "ai.onnx" ? std::string_view() : words[1], words[2], number_of(words[3]),
                         at, text.size()});
    } else if (line.starts_with("column ")) {
      const auto words = words_of(line);
      if (words.size() != 8) refuse_line(line);
      const auto value = [&](std::size_t i) { return words[i].substr(words[i].find('=') + 1); };
      if (std::find(machines.begin(), machines.end(), words[2]) == machines.end())
        machines.push_back(words[2]);
      releases_.push_back({words[2], words[3], number_of(value(4)), number_of(value(5)), number_of(value(6)),
                           value(7), releases_.size() + machines.size() - 1});
    } else if (line.starts_with("measured ")) {
      date_ = line.substr(9);
    } else if (line == "operators") {
      is_among_ops = true;
    } else if (line == "fusions") {
      if (!places_.empty()) places_.back().end = at;
      break;
    }
    at = end + 1;
  }
  if (!is_among_ops || releases_.empty()) refuse_line(text.substr(0, text.find('\n')));
  machines_ = machines.size();
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return std::tie(a.domain, a.op_type, a.since) < std::tie(b.domain, b.op_type, b.since);
  });
}

std::optional<std::size_t> SupportMatrix::find(std::string_view machine, std::string_view version) const {
  std::optional<std::size_t> same_minor;
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    if (releases_[i].machine != machine) continue;
    if (releases_[i].version == version) return i;
    if (minor_of(releases_[i].version) == minor_of(version)) same_minor = i;
  }
  return same_minor;
}

std::string_view SupportMatrix::Group::parameter(const std::vector<std::string_view>& list, std::size_t i) {
  if (list.empty()) return {};
  if (i >= list.size() && !list.back().ends_with('*')) return {};
  std::string_view type = list[std::min(i, list.size() - 1)];
  while (type.ends_with('*') || type.ends_with('?')) type.remove_suffix(1);
  return type;
}

std::optional<SupportMatrix::Group> SupportMatrix::find_group(std::string_view domain,
                                                              std::string_view op_type,
                                                              std::int64_t version) const {
  const auto wanted = std::tuple(domain, op_type, version);
  const auto after = std::upper_bound(
      places_.begin(), places_.end(), wanted,
      [](const auto& key, const Place& p) { return key < std::tie(p.domain, p.op_type, p.since); });
  if (after == places_.begin()) return std::nullopt;
  const Place& found = *(after - 1);
  if (found.domain != domain || found.op_type != op_type) return std::nullopt;
  return parse(found);
}

SupportMatrix::Group SupportMatrix::parse(const Place& place) const {
  Group group;
  group.op_type = place.op_type;
  group.since = place.since;
  const auto lines = words_of(text_.substr(place.begin, place.end - place.begin), "\n");
  const auto parts = words_of(lines[0], " | ");
  const auto sides = parts.size() == 4 ? words_of(parts[3], " -> ") : std::vector<std::string_view>();
  if (sides.size() != 2) refuse_line(lines[0]);
  group.variables = list_of(parts[1]);
  for (const std::string_view dimension : list_of(parts[2])) {
    const std::size_t equals = dimension.find('=');
    group.dimensions.push_back({dimension.substr(0, equals), equals == std::string_view::npos
                                                                 ? std::string_view()
                                                                 : dimension.substr(equals + 1)});
  }
  group.inputs = list_of(sides[0]);
  group.outputs = list_of(sides[1]);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    // The answers of each machine, the bindings, and the variant if there is one.
    std::size_t at = 0;
    for (std::size_t machine = 0; machine < machines_ && at != std::string_view::npos; ++machine)
      at = lines[i].find(' ', at) == std::string_view::npos ? at : lines[i].find(' ', at) + 1;
    if (at == 0 || at > lines[i].size()) refuse_line(lines[i]);
    const std::string_view rest = lines[i].substr(at);
    const std::size_t space = rest.find(' ');
    group.lines.push_back({lines[i].substr(0, at - 1), rest.substr(0, space),
                           space == std::string_view::npos ? std::string_view() : rest.substr(space + 1)});
  }
  return group;
}

std::string_view support_text() {
  return {ounce_support_text, static_cast<std::size_t>(ounce_support_text_end - ounce_support_text)};
}

}  // namespace ounce::target
