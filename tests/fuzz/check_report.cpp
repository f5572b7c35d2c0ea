// Checks HTML reports made from untrusted JSON documents: no text of a document becomes markup, and the size
// of the report is in proportion to the document.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"
#include "report/html/page.h"

namespace ounce::test {
namespace {

constexpr std::size_t kMostForNothing = std::size_t{4} << 20, kMostForAByte = 1000;

// A strict HTML parser: elements must be nested correctly, and no attribute may run scripts or load anything.
class PageReader {
 public:
  explicit PageReader(std::string_view html) : rest_(html) {}

  void read() {
    promise(take(report::html::page_start()), "a page has a wrong beginning");
    for (std::size_t text = rest_.find('<'); text != std::string_view::npos; text = rest_.find('<')) {
      rest_.remove_prefix(text + 1);
      if (take("/")) {
        promise(!open_.empty() && name() == open_.back() && take(">"),
                "an element is not closed in its order");
        open_.pop_back();
      } else {
        start_of_element();
      }
    }
    promise(open_.empty(), "an element is not closed");
    promise(scripts_ == 2, "a page does not have its two scripts: the documents and the program");
  }

 private:
  bool take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_.remove_prefix(what.size());
    return true;
  }

  std::string_view name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
    const std::string_view found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(found.size());
    return found;
  }

  void attribute() {
    const std::string_view key = name();
    if (key == "hidden" && !rest_.starts_with('=')) return;
    promise(!key.empty() && !key.starts_with("on") && take("=\""), "an unexpected attribute");
    const std::size_t end = rest_.find('"');
    promise(end != std::string_view::npos, "an attribute has no end");
    const std::string_view value = rest_.substr(0, end);
    promise(value.find('<') == std::string_view::npos, "an attribute contains markup");
    promise(key != "src" || value.starts_with("data:image/png;base64,"), "a page loads something");
    promise(key != "href" || value.starts_with('#'), "a page leads elsewhere");
    rest_.remove_prefix(end + 1);
  }

  void start_of_element() {
    static constexpr auto kWithoutEnd = std::to_array<std::string_view>({"meta", "br", "img"});
    const std::string_view tag = name();
    promise(!tag.empty(), "there is a < that begins nothing");
    while (take(" ")) attribute();
    const bool is_lone = take("/");
    promise(take(">"), "an element does not end");
    if (is_lone || std::find(kWithoutEnd.begin(), kWithoutEnd.end(), tag) != kWithoutEnd.end()) return;
    open_.push_back(tag);
    if (tag != "style" && tag != "script") return;
    // Skips Ounce's own style and program, and the documents, in which every < is escaped.
    const std::size_t end = std::min(rest_.find(tag == "style" ? "</style>" : "</script>"), rest_.size());
    if (tag == "script" && ++scripts_ == 1)
      promise(rest_.substr(0, end).find('<') == std::string_view::npos, "a document contains markup");
    rest_.remove_prefix(end);
  }

  std::string_view rest_;
  std::vector<std::string_view> open_;
  int scripts_ = 0;
};

}  // namespace

void check_report(const std::string& bytes) {
  const auto html =
      unless_refused([&] { return report::html::page({report::html::parse_run(bytes, "run.json")}); });
  if (!html) return;
  PageReader(*html).read();
  promise(escaped_lines(*html) == *html, "a page contains control characters");
  promise(html->size() < kMostForNothing + kMostForAByte * bytes.size(), "a page is out of proportion");
}

}  // namespace ounce::test
