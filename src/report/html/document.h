// A look into a JSON document that may be somebody else's: what is missing or of another type is nothing.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "report/html/markup.h"

namespace ounce::report::html {

using Json = nlohmann::ordered_json;

const Json& member(const Json& object, const char* key);  // null if there is none
const Json& list(const Json& object, const char* key);    // an empty one if there is none
const Json& first_result(const Json& document);           // null if there is none
std::string words(const Json& object, const char* key);   // empty if there are none
std::optional<double> figure(const Json& object, const char* key);
bool is_true(const Json& object, const char* key);
std::vector<double> figures(const Json& object, const char* key);  // of a list; anything else in it is 0
std::vector<std::string> sentences(const Json& object, const char* key);

// "12.4 MB", "44.4 dB", "0.931"; a dash where there is nothing.
std::string bytes_of(const Json& object, const char* key);
std::string percent_of(const Json& object, const char* key);
std::string time_of(const Json& object, const char* key);  // of nanoseconds
std::string figure_of(const Json& object, const char* key, int digits = 4);
// "exact" where `exact_key` is true, as null stands for infinity there.
std::string decibels_of(const Json& object, const char* key, const char* exact_key);
// The last part of a path.
std::string file_name(const std::string& path);

// A table that people search and sort. Without scripts it is a table like any other.

struct Cell {
  Markup content;
  std::optional<double> value = {};  // what it is sorted by, where its text is not
};

class DataTable {
 public:
  enum class Kind { kText, kNumber };
  struct Column {
    std::string title;
    Kind kind = Kind::kText;
  };
  static constexpr std::size_t kMostRows = 2000;  // that are shown

  DataTable(std::string caption, std::vector<Column> columns)
      : caption_(std::move(caption)), columns_(std::move(columns)) {}
  void add(std::vector<Cell> cells);
  bool is_empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  // Tables with many rows get a field to search in.
  Markup markup() const;

 private:
  std::string caption_;
  std::vector<Column> columns_;
  Markup body_;
  std::size_t rows_ = 0;
};

// Text of others; a figure with what it is sorted by.
Cell cell(const std::string& words);
Cell cell(const std::string& shown, std::optional<double> value);

}  // namespace ounce::report::html
