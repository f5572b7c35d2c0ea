// HTML that cannot be broken by what stands in it: text of others becomes markup only through text(), which
// escapes it, and attributes are always escaped. What is markup by itself is a literal of our sources.
//
//   Markup row = element("td", {{"class", "number"}}, text(tensor_name));
//   page += row;
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::report::html {

// Text that stands in our sources: only the compiler can make one.
class Literal {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): "td" is one
  consteval Literal(const char* text) : text_(text) {}
  const char* text() const { return text_; }

 private:
  const char* text_;
};

class Markup {
 public:
  Markup() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is markup
  Markup(Literal literal) : html_(literal.text()) {}
  // A style sheet or a script of ours, as it is.
  static Markup asset(std::string_view ours);

  const std::string& html() const { return html_; }
  bool is_empty() const { return html_.empty(); }
  Markup& operator+=(const Markup& more) {
    html_ += more.html_;
    return *this;
  }
  friend Markup operator+(Markup one, const Markup& other) { return one += other; }

 private:
  friend Markup text(std::string_view of_others);
  friend Markup whole_text(std::string_view of_others);
  friend struct Tag;
  std::string html_;
};

// As plain() shows it: on one line, without what could turn its direction, cut where it is too long to read.
Markup text(std::string_view of_others);
// The same, but of any length: commands that people copy.
Markup whole_text(std::string_view of_others);

struct Attribute {
  Literal name;
  std::string value;
};
using Attributes = std::vector<Attribute>;

Markup element(Literal tag, const Attributes& attributes, const Markup& content);
inline Markup element(Literal tag, const Markup& content) { return element(tag, {}, content); }
// One that has no content and no end: <img>, <rect/>.
Markup lone_element(Literal tag, const Attributes& attributes);

// A number for an attribute: short, and the same on every machine.
std::string coordinate(double value);

}  // namespace ounce::report::html
