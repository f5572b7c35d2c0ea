#include "report/html/document.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "report/table.h"

namespace ounce::report::html {

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

const Json& list(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& found = member(object, key);
  return found.is_array() ? found : kEmpty;
}

const Json& first_result(const Json& document) {
  static const Json kNothing;
  const Json& results = list(document, "results");
  return results.empty() ? kNothing : results[0];
}

std::string words(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::optional<double> figure(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_number() && std::isfinite(found.get<double>()) ? std::optional(found.get<double>())
                                                                 : std::nullopt;
}

bool is_true(const Json& object, const char* key) {
  const Json& found = member(object, key);
  return found.is_boolean() && found.get<bool>();
}

std::vector<double> figures(const Json& object, const char* key) {
  std::vector<double> all;
  for (const Json& one : list(object, key)) {
    const double value = one.is_number() ? one.get<double>() : 0;
    all.push_back(std::isfinite(value) ? value : 0);
  }
  return all;
}

std::vector<std::string> sentences(const Json& object, const char* key) {
  std::vector<std::string> all;
  for (const Json& one : list(object, key)) {
    if (one.is_string()) all.push_back(one.get<std::string>());
  }
  return all;
}

std::string bytes_of(const Json& object, const char* key) {
  const auto value = figure(object, key);
  constexpr double kMost = 1e18;
  return value && *value >= 0 && *value < kMost ? bytes_text(static_cast<std::uint64_t>(*value)) : "–";
}

std::string percent_of(const Json& object, const char* key) {
  const auto value = figure(object, key);
  return value ? percent_text(*value) : "–";
}

std::string time_of(const Json& object, const char* key) {
  const auto value = figure(object, key);
  return value ? time_text(*value * 1e-9) : "–";
}

std::string figure_of(const Json& object, const char* key, int digits) {
  const auto value = figure(object, key);
  return value ? fmt::format("{:.{}g}", *value, digits) : "–";
}

std::string decibels_of(const Json& object, const char* key, const char* exact_key) {
  if (is_true(object, exact_key)) return "exact";
  const auto value = figure(object, key);
  return value ? decibel_text(*value) : "–";
}

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

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
