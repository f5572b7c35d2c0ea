// A table of text for a terminal: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ounce::report {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);  // they show as plain() shows them
  void add_rule() { rows_.emplace_back(); }
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

// For people: "3.4 MB", "25.6 %", "43.8 dB", "1.2 s".
std::string bytes_text(std::uint64_t bytes);
std::string percent_text(double ratio);
std::string decibel_text(double decibel);
std::string seconds_text(double seconds);
// Of one call, which takes microseconds to seconds: three digits and the unit that suits, "2.01 ms".
std::string time_text(double seconds);

}  // namespace ounce::report
