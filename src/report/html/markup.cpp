#include "report/html/markup.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace ounce::report::html {
namespace {

std::string without_markup(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      case '\'': made += "&#39;"; break;
      default: made += c;
    }
  }
  return made;
}

}  // namespace

struct Tag {
  static Markup open(Literal tag, const Attributes& attributes, const char* end) {
    Markup made;
    made.html_ = fmt::format("<{}", tag.text());
    for (const Attribute& attribute : attributes)
      made.html_ +=
          fmt::format(" {}=\"{}\"", attribute.name.text(), without_markup(escaped(attribute.value)));
    made.html_ += end;
    return made;
  }
  static Markup close(Literal tag) {
    Markup made;
    made.html_ = fmt::format("</{}>", tag.text());
    return made;
  }
  static Markup as_it_is(std::string_view html) {
    Markup made;
    made.html_ = html;
    return made;
  }
};

Markup Markup::asset(std::string_view ours) { return Tag::as_it_is(ours); }

Markup text(std::string_view of_others) {
  Markup made;
  made.html_ = without_markup(plain(of_others));
  return made;
}

Markup whole_text(std::string_view of_others) {
  Markup made;
  made.html_ = without_markup(escaped(of_others));
  return made;
}

Markup element(Literal tag, const Attributes& attributes, const Markup& content) {
  return Tag::open(tag, attributes, ">") + content + Tag::close(tag);
}

Markup lone_element(Literal tag, const Attributes& attributes) { return Tag::open(tag, attributes, "/>"); }

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string made = fmt::format("{:.2f}", value);
  made.erase(made.find_last_not_of('0') + 1);
  if (made.ends_with('.')) made.pop_back();
  return made == "-0" ? "0" : made;
}

}  // namespace ounce::report::html
