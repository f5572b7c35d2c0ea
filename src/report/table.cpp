#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace ounce::report {
namespace {

// Counts characters, not bytes, because names may be UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

Table::Table(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    const bool is_right = title.starts_with('>');
    columns_.push_back({is_right ? title.substr(1) : title, is_right});
  }
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = plain(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width_of(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  const auto add_line = [&](auto cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string content = cell(i);
      const std::string padding(widths[i] - width_of(content), ' ');
      if (i != 0) line += "  ";
      line += columns_[i].is_right ? padding + content : content + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  const auto rule = [&](std::size_t i) { return std::string(widths[i], '-'); };
  add_line([&](std::size_t i) { return columns_[i].title; });
  add_line(rule);
  for (const auto& row : rows_) {
    if (row.empty()) {
      add_line(rule);
    } else {
      add_line([&](std::size_t i) { return i < row.size() ? row[i] : std::string(); });
    }
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string percent_text(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string decibel_text(double decibel) {
  if (std::isnan(decibel)) return "-";
  if (std::isinf(decibel)) return decibel > 0 ? "exact" : "-inf dB";
  const bool is_nothing = std::fabs(decibel) < 0.05;  // avoids "-0.0"
  return fmt::format("{:.1f} dB", is_nothing ? 0.0 : decibel);
}

std::string time_text(double seconds) {
  const bool is_short = seconds < 1e-3;
  const double value = seconds * (is_short ? 1e6 : 1e3);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, is_short ? "µs" : "ms");
}

std::string seconds_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.0f} ms", seconds * 1000) : fmt::format("{:.1f} s", seconds);
}

std::string runtime_text(const std::string& version) {
  const bool is_evaluator = version.find("not Apple's runtime") != std::string::npos;
  return (is_evaluator ? "Ounce's evaluator of ML Programs " : "ONNX Runtime ") + version;
}

}  // namespace ounce::report
