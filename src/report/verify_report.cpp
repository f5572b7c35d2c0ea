#include "report/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/recipe_command.h"
#include "report/sqnr_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "-";
}

// Without a minus before nothing.
std::string signed_text(double value) {
  return safe_format("{:+.4f}", std::fabs(value) < 5e-5 ? 0.0 : value);
}

std::string output_table(const VerifyResult& result) {
  const bool has_flips = std::any_of(result.outputs.begin(), result.outputs.end(),
                                     [](const auto& output) { return output.flips.has_value(); });
  std::vector<Table::Column> columns = {{"output"},
                                        {"values", Align::kRight},
                                        {"SQNR", Align::kRight},
                                        {"max |d|", Align::kRight},
                                        {"mean |d|", Align::kRight},
                                        {"cosine", Align::kRight},
                                        {"same top-1", Align::kRight},
                                        {"same top-5", Align::kRight},
                                        {"NaN/Inf", Align::kRight}};
  if (has_flips) columns.push_back({"flips", Align::kRight});
  Table table(columns);
  for (const OutputComparison& output : result.outputs) {
    const char* kind = output.is_state     ? " (state)"
                       : !output.is_judged ? " (not judged)"
                       : output.is_label   ? " (labels)"
                                           : "";
    std::vector<std::string> cells = {
        output.name + kind,
        fmt::format("{}", output.values),
        output.is_label ? "-" : decibel_text(output.sqnr_db),
        output.is_label ? "-" : fmt::format("{:.4g}", output.max_abs_diff),
        output.is_label ? "-" : fmt::format("{:.4g}", output.mean_abs_diff),
        output.is_label || std::isnan(output.cosine) ? "-" : fmt::format("{:.6f}", output.cosine),
        share_text(output.top1_agreement),
        share_text(output.top5_agreement),
        output.is_label ? "-"
                        : fmt::format("{}/{}", output.reference_not_finite, output.candidate_not_finite)};
    if (has_flips)
      cells.push_back(output.flips ? fmt::format("{} of {}", *output.flips, output.decisions) : "-");
    table.add(std::move(cells));
  }
  return table.text();
}

// The worst part of each output whose parts differ.
std::string slice_lines(const std::vector<OutputComparison>& outputs) {
  std::string lines;
  for (const OutputComparison& output : outputs) {
    if (output.slices.empty()) continue;
    const OutputSlice& worst = output.slices.front();
    lines += safe_format("worst slice: {}: {}, while the whole has {}\n", worst.name,
                         decibel_text(worst.sqnr_db), decibel_text(output.sqnr_db));
  }
  return lines;
}

std::string value_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }

std::string metric_table(const std::vector<MetricResult>& metrics) {
  Table table({{"metric"},
               {"reference", Align::kRight},
               {"candidate", Align::kRight},
               {"drop", Align::kRight},
               {"95 % sure", Align::kRight}});
  for (const MetricResult& metric : metrics) {
    const bool is_measured = !std::isnan(metric.drop);
    table.add({metric.name, is_measured ? value_text(metric.reference) : "not measured",
               value_text(metric.candidate), is_measured ? signed_text(metric.drop) : "-",
               metric.has_interval && is_measured
                   ? safe_format("{} … {}", signed_text(metric.drop_low), signed_text(metric.drop_high))
                   : "-"});
  }
  return table.text();
}

std::string edge_lines(const std::vector<EdgeCase>& cases) {
  std::size_t held = 0, failed = 0, left_out = 0;
  std::string lines;
  for (const EdgeCase& edge : cases) {
    ++(edge.is_left_out ? left_out : edge.passed ? held : failed);
    lines += safe_format("  {} {}: {}\n",
                         edge.is_left_out ? "-     "
                         : edge.passed    ? "ok    "
                                          : "FAILED",
                         edge.name, with_options(edge.finding));
  }
  std::string text = fmt::format("edge cases: {} held", held);
  if (failed != 0) text += fmt::format(", {} FAILED", failed);
  if (left_out != 0) text += fmt::format(", {} left out", left_out);
  return text + '\n' + lines;
}

}  // namespace

std::string verify_text(const VerifyResult& result) {
  std::string text =
      safe_format("{} against {}: {} {}sample{}, ONNX Runtime {}\n", result.candidate.string(),
                  result.reference.string(), result.samples, result.is_generated ? "random " : "",
                  result.samples == 1 ? "" : "s", result.runtime_version);
  text += output_table(result) + slice_lines(result.outputs);
  if (!result.metrics.empty()) text += metric_table(result.metrics);
  if (!result.worst.empty()) {
    text += "largest differences:";
    for (const SampleDifference& worst : result.worst)
      text += worst.changed == 0 ? safe_format(" {} ({:.4g})", worst.name, worst.max_abs_diff)
                                 : safe_format(" {} ({} labels)", worst.name, worst.changed);
    text += '\n';
  }
  if (!result.edge_cases.empty()) text += edge_lines(result.edge_cases);
  if (!result.cpus.empty()) text += "on other CPUs:\n";
  for (const std::string& line : cpu_lines(result.cpus)) text += safe_format("  {}\n", line);
  if (result.is_generated) {
    text += with_options(
        "note: the inputs were random; they show that the models agree, not how good they are: give "
        "`data`\n");
  }
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", with_options(note));
  const bool has_numbers = std::any_of(result.outputs.begin(), result.outputs.end(), [](const auto& output) {
    return output.is_judged && !output.is_state && !output.is_label;
  });
  if (const std::string words = sqnr_words(result.worst_sqnr_db); has_numbers && !words.empty())
    text += words + '\n';
  // With a confidence that was asked for, the verdict says it.
  if (!result.certainty.empty() && result.passed && !result.is_confidence_asked)
    text += safe_format("{}: {}\n", result.is_certain ? "certain" : "not certain",
                        with_options(result.certainty));
  return text + plain(with_options(result.verdict)) + '\n';
}

std::string verify_table(const std::vector<VerifyRow>& rows) {
  Table table({{"candidate"},
               {"SQNR", Align::kRight},
               {"max |d|", Align::kRight},
               {"metric", Align::kRight},
               {"drop", Align::kRight},
               {"verdict"}});
  std::size_t passed = 0;
  for (const VerifyRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "-", "-", "error: see above"});
      continue;
    }
    const bool has_metric = !row.result.metrics.empty() && !std::isnan(row.result.metrics[0].drop);
    const bool has_numbers = !std::isnan(row.result.max_abs_diff);
    table.add({row.model.string(), has_numbers ? decibel_text(row.result.worst_sqnr_db) : "-",
               has_numbers ? fmt::format("{:.4g}", row.result.max_abs_diff) : "-",
               has_metric ? fmt::format("{:.4f}", row.result.metrics[0].candidate) : "-",
               has_metric ? signed_text(row.result.metrics[0].drop) : "-",
               row.result.passed ? "passed" : "failed"});
    passed += row.result.passed ? 1 : 0;
  }
  table.add_rule();
  table.add({fmt::format("total {}", rows.size()), "", "", "", "", fmt::format("{} passed", passed)});
  return table.text();
}

}  // namespace ounce::report
