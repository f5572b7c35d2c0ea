#include "target/ort/provider_pages.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "target/ort/provider_conditions.h"

// The assembler reads the file, so that no tool has to turn it into source.
asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_provider_pages:\n"
    ".incbin \"" OUNCE_PROVIDER_PAGES
    "\"\n"
    "ounce_provider_pages_end:\n"
    ".previous\n");
extern "C" const char ounce_provider_pages[], ounce_provider_pages_end[];

namespace ounce::target {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// What stands before the mark; `text` keeps what stands behind it.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view before = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return trimmed(before);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = cut(text, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// Reads line after line; `page_` is the one that lines speak of.
class PageReader {
 public:
  std::vector<ProviderPage> read(std::string_view text) {
    for (line_ = 1; !text.empty(); ++line_) {
      const std::string_view line = cut(text, '\n');
      if (!line.empty() && !line.starts_with('#')) read_line(line);
    }
    return std::move(pages_);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(ErrorCode::kInternal, fmt::format("line {}: {}", line_, why), "provider_pages.txt");
  }

  void read_line(std::string_view line) {
    constexpr std::string_view kPage = "page ";
    if (line.starts_with(kPage)) {
      pages_.emplace_back().provider = trimmed(line.substr(kPage.size()));
      return;
    }
    if (pages_.empty()) refuse("stands before the first page");
    ProviderPage& page = pages_.back();
    const bool has_key = line.find(':') < line.find('|');
    std::string_view rest = line;
    const std::string_view key = has_key ? cut(rest, ':') : std::string_view();
    const std::string_view value = trimmed(rest);
    if (key == "source") {
      page.source = value;
    } else if (key == "note") {
      page.note = value;
    } else if (key == "types") {
      page.types = value;
    } else if (key == "traits") {
      read_traits(page, value);
    } else {
      read_ops(page, key, rest);
    }
  }

  void read_traits(ProviderPage& page, std::string_view text) const {
    for (const std::string_view trait : words_of(text)) {
      if (trait == "fixed-shapes") {
        page.needs_fixed_shapes = true;
      } else if (trait == "bodies") {
        page.enters_bodies = true;
      } else if (trait == "quantized-ops") {
        page.takes_quantized_ops = true;
      } else if (trait == "node-by-node") {
        page.is_node_by_node = true;
      } else {
        refuse("no such trait");
      }
    }
  }

  void read_ops(ProviderPage& page, std::string_view domain, std::string_view rest) const {
    ProviderOp op;
    op.domain = domain;
    op.op_types = words_of(cut(rest, '|'));
    op.condition = cut(rest, '|');
    op.types = trimmed(rest);
    if (op.op_types.empty()) refuse("names no op");
    if (!has_known_words(op.condition)) refuse("has a condition that nobody can check");
    page.ops.push_back(std::move(op));
  }

  std::size_t line_ = 0;
  std::vector<ProviderPage> pages_;
};

}  // namespace

std::vector<ProviderPage> parse_provider_pages(std::string_view text) { return PageReader().read(text); }

const std::vector<ProviderPage>& provider_pages() {
  static const std::vector<ProviderPage> pages = parse_provider_pages(
      {ounce_provider_pages, static_cast<std::size_t>(ounce_provider_pages_end - ounce_provider_pages)});
  return pages;
}

const ProviderPage* find_provider_page(std::string_view provider) {
  const auto& pages = provider_pages();
  const auto found =
      std::find_if(pages.begin(), pages.end(), [&](const auto& page) { return page.provider == provider; });
  return found == pages.end() ? nullptr : &*found;
}

}  // namespace ounce::target
