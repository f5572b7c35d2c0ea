// A table that people search and sort. Without scripts it is a table like any other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/html/markup.h"

namespace ounce::report::html {

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
