// The parts of an HTML report: markup that escapes untrusted text, access to JSON documents, tables,
// sections.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::report::html {

// HTML that its content cannot break: untrusted text becomes markup only through text(), which escapes it,
// and attribute values are always escaped. Unescaped markup must be a string literal.
//
//   Markup row = element("td", {{"class", "number"}}, text(tensor_name));
//   page += row;

// A string literal: only the compiler can construct one.
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
  // Makes markup of an embedded style sheet or script, without escaping.
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

// Escapes text and applies plain(): one line, no bidirectional controls, limited length.
Markup text(std::string_view of_others);
// The same without a limit of the length, for commands that users copy.
Markup whole_text(std::string_view of_others);

struct Attribute {
  Literal name;
  std::string value;
};
using Attributes = std::vector<Attribute>;

Markup element(Literal tag, const Attributes& attributes, const Markup& content);
inline Markup element(Literal tag, const Markup& content) { return element(tag, {}, content); }
// An element without content: <img>, <rect/>.
Markup lone_element(Literal tag, const Attributes& attributes);

// Formats a number for an attribute, independent of the locale.
std::string coordinate(double value);

// Access to untrusted JSON documents: a value that is missing or has another type reads as absent. A key is
// the name of a member, or a path: "latency.p50_ns".
using Json = nlohmann::ordered_json;

const Json& member(const Json& object, std::string_view key);  // null if there is none
const Json& list(const Json& object, std::string_view key);    // an empty list if there is none
const Json& first_result(const Json& document);                // null if there is none
std::string words(const Json& object, std::string_view key);   // empty if there is no text
std::optional<double> figure(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);
std::vector<double> figures(const Json& object,
                            std::string_view key);  // entries that are no numbers become 0
std::vector<std::string> sentences(const Json& object, std::string_view key);

// Formatted values: "12.4 MB", "44.4 dB", "0.931"; a dash for an absent value.
std::string bytes_of(const Json& object, std::string_view key);
std::string percent_of(const Json& object, std::string_view key);
std::string share_of(const Json& object, std::string_view key);  // "99.25 %"
std::string time_of(const Json& object, std::string_view key);   // from nanoseconds
std::string figure_of(const Json& object, std::string_view key, int digits = 4);
// "exact" if `exact_key` is true; the SQNR is infinite then, which JSON writes as null.
std::string decibels_of(const Json& object, std::string_view key, std::string_view exact_key);
// The file name of the path at `key`.
std::string file_name(const Json& object, std::string_view key);

// A table that can be sorted, and searched if it has many rows. Without scripts it is a plain table.
//
//   const Markup table = data_table("Runs", list(document, "models"),
//                                   {text_column("model", "model"), bytes_column("size", "bytes"),
//                                    {"speed", [](const Json& model) { return cell(speed_text(model)); }}});

struct Cell {
  Markup content;
  std::optional<double> value = {};  // the sort key; unset: sort by the text
};
// A cell of untrusted text; a cell with a number as sort key.
Cell cell(const std::string& words);
Cell cell(const std::string& shown, std::optional<double> value);

struct Column {
  std::string title;
  std::function<Cell(const Json& entry)> cell = {};
  bool is_number = false;
};
Column text_column(std::string title, std::string key);
Column text_column(std::string title, std::string (*text)(const Json& entry));
Column bytes_column(std::string title, std::string key);
Column percent_column(std::string title, std::string key);
Column share_column(std::string title, std::string key);
Column time_column(std::string title, std::string key);
Column figure_column(std::string title, std::string key, int digits = 4);
Column decibel_column(std::string title, std::string key, std::string exact_key = {});
// Leaves the cells of other entries empty.
Column only_if(bool (*condition)(const Json& entry), Column column);

class DataTable {
 public:
  static constexpr std::size_t kMostRows = 2000;  // rows beyond this are counted, not shown

  DataTable(std::string caption, std::vector<Column> columns)
      : caption_(std::move(caption)), columns_(std::move(columns)) {}
  void add(const std::vector<Cell>& cells);
  void add_entry(const Json& entry);
  std::size_t rows() const { return rows_; }
  Markup markup() const;  // empty without rows

 private:
  std::string caption_;
  std::vector<Column> columns_;
  Markup body_;
  std::size_t rows_ = 0;
};

// A row for each entry of a list.
Markup data_table(std::string caption, const Json& entries, std::vector<Column> columns);

// A section shows the result of one run. Each verb that can be rendered has a function that makes its
// sections.

enum class Verdict { kGood, kBad, kNeutral };

// A row of the table that compares runs: dashes for absent values.
struct SummaryRow {
  std::string model, what, size, speed, quality, verdict;
  Verdict kind = Verdict::kNeutral;
};

struct Section {
  std::string title;  // "verify: model.w8.onnx against model.onnx"
  Verdict verdict = Verdict::kNeutral;
  std::string headline;  // the result in one sentence
  Markup body;
  std::vector<SummaryRow> summary;
};

// Each function takes a complete document of its verb.
std::vector<Section> quantize_sections(const Json& document);
std::vector<Section> verify_sections(const Json& document);
std::vector<Section> bench_sections(const Json& document);
std::vector<Section> sensitivity_sections(const Json& document);
std::vector<Section> tune_sections(const Json& document);
std::vector<Section> advise_sections(const Json& document);
std::vector<Section> check_sections(const Json& document);
std::vector<Section> diff_sections(const Json& document);

// The parts that sections share.
struct Tile {
  std::string name, before, after, remark;  // `before` may be empty
};
Markup tiles(const std::vector<Tile>& all);
Markup badge(Verdict verdict, const std::string& words);
Markup heading(Literal words);
Markup paragraph(const std::string& words);
Markup quiet(const std::string& words);  // in a less prominent style
Markup note_list(const std::vector<std::string>& notes);
Markup command_block(const std::string& command);
// Content that is folded until the reader opens it.
Markup details(const std::string& title, const Markup& content);
// Makes a section for each result with `draw`, and for each error. Beyond a limit, one section counts the
// rest, because an untrusted document may list millions of entries.
std::vector<Section> section_each(const std::string& verb, const Json& document,
                                  const std::function<Section(const Json&)>& draw);
// A table of CpuComparison entries.
Markup cpu_table(const Json& cpus);

// The style sheet and the script of a report: the files page.css and page.js.

std::string_view style_sheet();
std::string_view script();

}  // namespace ounce::report::html
