#include "report/reports.h"

#include <fmt/format.h>

#include <cmath>

#include "recipe/format_info.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;
std::string quality_cell(const PublishedVariant& variant) {
  if (!variant.is_written) return variant.is_gate_failure ? "FAILED" : "not made";
  if (!variant.verified) return "the original";
  std::string text = decibel_text(variant.verified->worst_sqnr_db);
  if (!variant.verified->metrics.empty()) {
    const MetricResult& metric = variant.verified->metrics.front();
    text += fmt::format(", {} {:.4g}", metric.name, metric.candidate);
  }
  return text;
}

std::string speed_cell(const PublishedVariant& variant) {
  if (!variant.bench || variant.bench->batches.empty()) return "";
  const BatchResult& batch = variant.bench->batches.front();
  std::string text = time_text(batch.latency.p50);
  if (batch.speed_up.is_measurable) text += fmt::format(" ({:.2f} x)", batch.speed_up.ratio);
  return text;
}

std::string memory_cell(const PublishedVariant& variant) {
  return variant.bench && variant.bench->load_memory ? bytes_text(variant.bench->load_memory->peak) : "";
}

std::string releases_cell(const PublishedVariant& variant) {
  std::string text;
  for (const auto& [machine, version] : variant.releases)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", machine, version);
  return text;
}

}  // namespace

std::string publish_text(const PublishResult& result) {
  bool is_measured = false;
  for (const PublishedModel& model : result.models) {
    for (const PublishedVariant& variant : model.variants) is_measured |= variant.bench.has_value();
  }
  std::vector<Table::Column> columns = {{"variant"},
                                        {"file"},
                                        {"format"},
                                        {"size", Align::kRight},
                                        {"ratio", Align::kRight},
                                        {"against the original"}};
  if (is_measured) columns.insert(columns.end(), {{"a run", Align::kRight}, {"to load", Align::kRight}});
  columns.push_back({"runs from"});
  Table table(std::move(columns));
  for (const PublishedModel& model : result.models) {
    for (const PublishedVariant& variant : model.variants) {
      std::vector<std::string> cells = {variant.variant,
                                        variant.file.string(),
                                        name_and_label(variant.format),
                                        variant.is_written ? bytes_text(variant.bytes) : "",
                                        variant.is_written ? percent_text(variant.ratio) : "",
                                        quality_cell(variant)};
      if (is_measured) cells.insert(cells.end(), {speed_cell(variant), memory_cell(variant)});
      cells.push_back(releases_cell(variant));
      table.add(std::move(cells));
    }
  }
  std::string text = table.text();
  for (const PublishedModel& model : result.models) {
    for (const PublishedVariant& variant : model.variants) {
      if (!variant.is_written)
        text += safe_format("  {} is not written: {}\n", variant.variant, with_options(variant.why_not));
      for (const std::string& note : variant.notes)
        text += safe_format("  {}: note: {}\n", variant.variant, with_options(note));
    }
  }
  for (const std::string& note : result.notes) text += safe_format("  note: {}\n", with_options(note));
  if (result.written() == 0) return text + safe_format("{}: nothing is written\n", result.output);
  return text + safe_format("{}: {} variant{}, {} files of configuration, {} carried over\n", result.output,
                            result.written(), result.written() == 1 ? "" : "s", result.configs.size(),
                            result.carried.size());
}

}  // namespace ounce::report
