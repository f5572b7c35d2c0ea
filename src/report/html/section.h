// The parts of a page: markup that escapes the text of others, values of a JSON document, tables.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::report::html {

// HTML that cannot be broken by what stands in it: text of others becomes markup only through text(), which
// escapes it, and attributes are always escaped. What is markup by itself is a literal of our sources.
//
//   Markup row = element("td", {{"class", "number"}}, text(tensor_name));
//   page += row;

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

// A look into a JSON document that may be somebody else's: what is missing or of another type is nothing. A
// key is the name of a member, or the names of members inside of each other: "latency.p50_ns".
using Json = nlohmann::ordered_json;

const Json& member(const Json& object, std::string_view key);  // null if there is none
const Json& list(const Json& object, std::string_view key);    // an empty one if there is none
const Json& first_result(const Json& document);                // null if there is none
std::string words(const Json& object, std::string_view key);   // empty if there are none
std::optional<double> figure(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);
std::vector<double> figures(const Json& object, std::string_view key);  // of a list; anything else in it is 0
std::vector<std::string> sentences(const Json& object, std::string_view key);

// "12.4 MB", "44.4 dB", "0.931"; a dash where there is nothing.
std::string bytes_of(const Json& object, std::string_view key);
std::string percent_of(const Json& object, std::string_view key);
std::string share_of(const Json& object, std::string_view key);  // "99.25 %"
std::string time_of(const Json& object, std::string_view key);   // of nanoseconds
std::string figure_of(const Json& object, std::string_view key, int digits = 4);
// "exact" where `exact_key` is true, as null stands for infinity there.
std::string decibels_of(const Json& object, std::string_view key, std::string_view exact_key);
// The last part of a path, which is what `key` names.
std::string file_name(const Json& object, std::string_view key);

// A table that people search and sort. Without scripts it is a table like any other, and one with many rows
// has a field to search in.
//
//   const Markup table = data_table("Runs", list(document, "models"),
//                                   {text_column("model", "model"), bytes_column("size", "bytes"),
//                                    {"speed", [](const Json& model) { return cell(speed_text(model)); }}});

struct Cell {
  Markup content;
  std::optional<double> value = {};  // what it is sorted by, where its text is not
};
// Text of others; a figure with what it is sorted by.
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
// With nothing in the rows of other entries.
Column only_if(bool (*condition)(const Json& entry), Column column);

class DataTable {
 public:
  static constexpr std::size_t kMostRows = 2000;  // that are shown

  DataTable(std::string caption, std::vector<Column> columns)
      : caption_(std::move(caption)), columns_(std::move(columns)) {}
  void add(const std::vector<Cell>& cells);
  void add_entry(const Json& entry);
  std::size_t rows() const { return rows_; }
  Markup markup() const;  // nothing without rows

 private:
  std::string caption_;
  std::vector<Column> columns_;
  Markup body_;
  std::size_t rows_ = 0;
};

// A row for each entry of a list.
Markup data_table(std::string caption, const Json& entries, std::vector<Column> columns);

// A part of the page: what one run has to say. Every verb that can be drawn has a file that makes one.

enum class Verdict { kGood, kBad, kNeutral };

// A row of the table that compares runs: dashes where a run says nothing.
struct SummaryRow {
  std::string model, what, size, speed, quality, verdict;
  Verdict kind = Verdict::kNeutral;
};

struct Section {
  std::string title;  // "verify: model.w8.onnx against model.onnx"
  Verdict verdict = Verdict::kNeutral;
  std::string headline;  // what came out, in a sentence
  Markup body;
  std::vector<SummaryRow> summary;
};

// Each takes a whole document of its verb.
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
Markup quiet(const std::string& words);  // beside what matters more
Markup note_list(const std::vector<std::string>& notes);
Markup command_block(const std::string& command);
// Folded together until somebody wants it.
Markup details(const std::string& title, const Markup& content);
// A section for each result, which `draw` makes, and for each error. Of very many the first are drawn, and
// one section says how many are not: a document may be a list of a million nothings.
std::vector<Section> section_each(const std::string& verb, const Json& document,
                                  const std::function<Section(const Json&)>& draw);
// Of CpuComparison.
Markup cpu_table(const Json& cpus);

// The style sheet and the script of a page: page.css and page.js as they stand beside this file.

std::string_view style_sheet();
std::string_view script();

}  // namespace ounce::report::html
