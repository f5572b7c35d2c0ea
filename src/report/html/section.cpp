#include "report/html/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/table.h"

namespace ounce::report::html {

const Json& member(const Json& object, std::string_view key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const std::size_t dot = std::min(key.find('.'), key.size());
  const auto found = object.find(key.substr(0, dot));
  if (found == object.end()) return kNothing;
  return dot == key.size() ? *found : member(*found, key.substr(dot + 1));
}

const Json& list(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json& found = member(object, key);
  return found.is_array() ? found : kEmpty;
}

const Json& first_result(const Json& document) {
  static const Json kNothing;
  const Json& results = list(document, "results");
  return results.empty() ? kNothing : results[0];
}

std::string words(const Json& object, std::string_view key) {
  const Json& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::optional<double> figure(const Json& object, std::string_view key) {
  const Json& found = member(object, key);
  return found.is_number() && std::isfinite(found.get<double>()) ? std::optional(found.get<double>())
                                                                 : std::nullopt;
}

bool is_true(const Json& object, std::string_view key) {
  const Json& found = member(object, key);
  return found.is_boolean() && found.get<bool>();
}

std::vector<double> figures(const Json& object, std::string_view key) {
  std::vector<double> all;
  for (const Json& one : list(object, key)) {
    const double value = one.is_number() ? one.get<double>() : 0;
    all.push_back(std::isfinite(value) ? value : 0);
  }
  return all;
}

std::vector<std::string> sentences(const Json& object, std::string_view key) {
  std::vector<std::string> all;
  for (const Json& one : list(object, key)) {
    if (one.is_string()) all.push_back(one.get<std::string>());
  }
  return all;
}

std::string bytes_of(const Json& object, std::string_view key) {
  const auto value = figure(object, key);
  constexpr double kMost = 1e18;
  return value && *value >= 0 && *value < kMost ? bytes_text(static_cast<std::uint64_t>(*value)) : "–";
}

std::string percent_of(const Json& object, std::string_view key) {
  const auto value = figure(object, key);
  return value ? percent_text(*value) : "–";
}

std::string share_of(const Json& object, std::string_view key) {
  const auto value = figure(object, key);
  return value ? fmt::format("{:.2f} %", 100 * *value) : "–";
}

std::string time_of(const Json& object, std::string_view key) {
  const auto value = figure(object, key);
  return value ? time_text(*value * 1e-9) : "–";
}

std::string figure_of(const Json& object, std::string_view key, int digits) {
  const auto value = figure(object, key);
  return value ? fmt::format("{:.{}g}", *value, digits) : "–";
}

std::string decibels_of(const Json& object, std::string_view key, std::string_view exact_key) {
  if (is_true(object, exact_key)) return "exact";
  const auto value = figure(object, key);
  return value ? decibel_text(*value) : "–";
}

std::string file_name(const Json& object, std::string_view key) {
  const std::string path = words(object, key);
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

Cell cell(const std::string& words) { return {text(words)}; }
Cell cell(const std::string& shown, std::optional<double> value) { return {text(shown), value}; }

Column text_column(std::string title, std::string key) {
  return {std::move(title), [key = std::move(key)](const Json& entry) { return cell(words(entry, key)); }};
}

Column text_column(std::string title, std::string (*text)(const Json& entry)) {
  return {std::move(title), [text](const Json& entry) { return cell(text(entry)); }};
}

namespace {

// A column of numbers, formatted by `text_of`.
template <class TextOf>
Column number_column(std::string title, std::string key, const TextOf& text_of) {
  return {std::move(title),
          [key = std::move(key), text_of](const Json& entry) {
            return cell(text_of(entry, key), figure(entry, key));
          },
          /*is_number=*/true};
}

}  // namespace

Column bytes_column(std::string title, std::string key) {
  return number_column(std::move(title), std::move(key), bytes_of);
}
Column percent_column(std::string title, std::string key) {
  return number_column(std::move(title), std::move(key), percent_of);
}
Column share_column(std::string title, std::string key) {
  return number_column(std::move(title), std::move(key), share_of);
}
Column time_column(std::string title, std::string key) {
  return number_column(std::move(title), std::move(key), time_of);
}
Column figure_column(std::string title, std::string key, int digits) {
  return number_column(std::move(title), std::move(key), [digits](const Json& entry, std::string_view name) {
    return figure_of(entry, name, digits);
  });
}
Column decibel_column(std::string title, std::string key, std::string exact_key) {
  return number_column(std::move(title), std::move(key),
                       [exact_key = std::move(exact_key)](const Json& entry, std::string_view name) {
                         return decibels_of(entry, name, exact_key);
                       });
}

Column only_if(bool (*condition)(const Json& entry), Column column) {
  column.cell = [condition, cell = std::move(column.cell)](const Json& entry) {
    return condition(entry) ? cell(entry) : cell(Json());
  };
  return column;
}

void DataTable::add(const std::vector<Cell>& cells) {
  if (++rows_ > kMostRows) return;
  Markup row;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    Attributes attributes;
    if (columns_[i].is_number) attributes.push_back({"class", "number"});
    if (cells[i].value) attributes.push_back({"data-value", fmt::format("{:.9g}", *cells[i].value)});
    if (i == 0) attributes.push_back({"scope", "row"});
    row += i == 0 ? element("th", attributes, cells[i].content) : element("td", attributes, cells[i].content);
  }
  body_ += element("tr", row);
}

void DataTable::add_entry(const Json& entry) {
  std::vector<Cell> cells;
  for (const Column& column : columns_) cells.push_back(column.cell(entry));
  add(cells);
}

Markup DataTable::markup() const {
  if (rows_ == 0) return {};
  Markup heads;
  for (const Column& column : columns_) {
    Attributes attributes = {{"scope", "col"}};
    if (column.is_number) attributes.push_back({"class", "number"});
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
                    text(fmt::format("… and {} more rows in the JSON document.", rows_ - kMostRows)));
  return made;
}

Markup data_table(std::string caption, const Json& entries, std::vector<Column> columns) {
  DataTable table(std::move(caption), std::move(columns));
  for (const Json& entry : entries) table.add_entry(entry);
  return table.markup();
}

namespace {

constexpr std::size_t kMostSections = 500;  // of one document

bool has_failed(const Json& result) {
  return member(result, "passed").is_boolean() && !is_true(result, "passed");
}

// Represents the entries that are not shown. Failures among them make the whole report fail.
Section rest_section(const std::string& verb, const Json& results, const Json& errors) {
  std::size_t place = 0, failed = 0;
  for (const Json& result : results) failed += place++ >= kMostSections && has_failed(result) ? 1U : 0U;
  const std::size_t count = place + errors.size();
  failed += count - std::max(place, kMostSections);
  Section section;
  section.title = fmt::format("{}: further results", verb);
  section.verdict = failed == 0 ? Verdict::kNeutral : Verdict::kBad;
  section.headline = fmt::format("{} more are not shown, {} of them failed; the JSON document has all",
                                 count - kMostSections, failed);
  return section;
}

// A model with an error.
Section failed_section(const std::string& verb, const Json& error) {
  Section section;
  const std::string name = file_name(error, "model");
  section.title = fmt::format("{}: {}", verb, name);
  section.verdict = Verdict::kBad;
  section.headline = words(error, "message");
  section.summary = {{name, verb, "–", "–", "–", "error", Verdict::kBad}};
  return section;
}

}  // namespace

std::vector<Section> section_each(const std::string& verb, const Json& document,
                                  const std::function<Section(const Json&)>& draw) {
  const Json &results = list(document, "results"), &errors = list(document, "errors");
  std::vector<Section> all;
  for (const Json& result : results) {
    if (all.size() == kMostSections) break;
    all.push_back(draw(result));
  }
  for (const Json& error : errors) {
    if (all.size() == kMostSections) break;
    all.push_back(failed_section(verb, error));
  }
  if (results.size() + errors.size() > kMostSections) all.push_back(rest_section(verb, results, errors));
  return all;
}

Markup tiles(const std::vector<Tile>& all) {
  Markup made;
  for (const Tile& tile : all) {
    Markup figures;
    if (!tile.before.empty())
      figures += element("span", {{"class", "before"}}, text(tile.before)) +
                 Markup(" <span aria-hidden=\"true\">→</span> ");
    figures += element("strong", text(tile.after));
    made += element(
        "div", {{"class", "tile"}},
        element("dt", text(tile.name)) +
            element("dd", figures + (tile.remark.empty() ? Markup() : element("small", text(tile.remark)))));
  }
  return element("dl", {{"class", "tiles"}}, made);
}

Markup badge(Verdict verdict, const std::string& words) {
  const char* const kind = verdict == Verdict::kGood  ? "badge good"
                           : verdict == Verdict::kBad ? "badge bad"
                                                      : "badge";
  const Markup sign = verdict == Verdict::kGood  ? Markup("<span aria-hidden=\"true\">✓</span> ")
                      : verdict == Verdict::kBad ? Markup("<span aria-hidden=\"true\">✗</span> ")
                                                 : Markup();
  return element("span", {{"class", kind}}, sign + text(words));
}

Markup heading(Literal words) { return element("h3", Markup(words)); }
Markup paragraph(const std::string& words) { return words.empty() ? Markup() : element("p", text(words)); }
Markup quiet(const std::string& words) { return element("p", {{"class", "quiet"}}, text(words)); }

Markup note_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  Markup made;
  for (const std::string& note : notes) made += element("li", text(note));
  return element("ul", {{"class", "notes"}}, made);
}

Markup command_block(const std::string& command) {
  if (command.empty()) return {};
  return element("pre", {{"class", "command"}, {"tabindex", "0"}}, element("code", whole_text(command)));
}

Markup details(const std::string& title, const Markup& content) {
  if (content.is_empty()) return {};
  return element("details", element("summary", text(title)) + content);
}

Markup cpu_table(const Json& cpus) {
  const auto result = [](const Json& cpu) -> Cell {
    if (!is_true(cpu, "run")) return {text("not run: " + words(cpu, "why_not"))};
    const std::string how_close =
        is_true(cpu, "exact") ? "bit-identical" : decibels_of(cpu, "sqnr_db", "exact") + " SQNR";
    return {badge(is_true(cpu, "same") ? Verdict::kGood : Verdict::kBad, how_close)};
  };
  return data_table("Other CPUs, compared with this CPU", cpus,
                    {text_column("CPU", "cpu"),
                     {"result", result},
                     text_column("executed by", "how"),
                     figure_column("samples", "samples", 6)});
}

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
