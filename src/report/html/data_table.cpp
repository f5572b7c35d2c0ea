#include "report/html/data_table.h"

#include <fmt/format.h>

#include "base/plain_text.h"

namespace ounce::report::html {

Cell cell(const std::string& words) { return {text(words)}; }
Cell cell(const std::string& shown, std::optional<double> value) { return {text(shown), value}; }

void DataTable::add(std::vector<Cell> cells) {
  if (++rows_ > kMostRows) return;
  Markup row;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    Attributes attributes;
    if (columns_[i].kind == Kind::kNumber) attributes.push_back({"class", "number"});
    if (cells[i].value) attributes.push_back({"data-value", fmt::format("{:.9g}", *cells[i].value)});
    row += i == 0 ? element(
                        "th",
                        [&] {
                          attributes.push_back({"scope", "row"});
                          return attributes;
                        }(),
                        cells[i].content)
                  : element("td", attributes, cells[i].content);
  }
  body_ += element("tr", row);
}

Markup DataTable::markup() const {
  if (rows_ == 0) return {};
  Markup heads;
  for (const Column& column : columns_) {
    Attributes attributes = {{"scope", "col"}};
    if (column.kind == Kind::kNumber) attributes.push_back({"class", "number"});
    heads += element("th", attributes, text(column.title));
  }
  const Markup table = element(
      "table", {{"class", "data"}},
      element("caption", text(caption_)) + element("thead", element("tr", heads)) + element("tbody", body_));
  Markup made = element(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", plain(caption_)}},
      table);
  if (rows_ > kMostRows)
    made += element("p", {{"class", "quiet"}},
                    text(fmt::format("… and {} more rows, which the JSON document has.", rows_ - kMostRows)));
  return made;
}

}  // namespace ounce::report::html
