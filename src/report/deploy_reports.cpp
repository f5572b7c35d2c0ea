#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recipe/format_info.h"
#include "report/messages.h"
#include "report/recipe_command.h"
#include "report/reports.h"
#include "report/table.h"

namespace ounce::report {
namespace {

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
  if (batch.speed_up.is_measurable) text += fmt::format(" ({:.2f}×)", batch.speed_up.ratio);
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
  std::vector<std::string> columns = {"variant", "file", "format", ">size", ">ratio", "quality"};
  if (is_measured) columns.insert(columns.end(), {">latency", ">load memory"});
  columns.push_back("oldest ONNX Runtime");
  Table table(columns);
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
        text += safe_format("  {}: not written: {}\n", variant.variant, with_options(variant.why_not));
      for (const std::string& note : variant.notes)
        text += safe_format("  {}: note: {}\n", variant.variant, note_text(note));
    }
  }
  for (const std::string& note : result.notes) text += safe_format("  note: {}\n", note_text(note));
  if (result.written() == 0) return text + safe_format("{}: nothing was written\n", result.output);
  return text + safe_format("{}: {} variant{}, {} configuration files, {} copied files\n", result.output,
                            result.written(), result.written() == 1 ? "" : "s", result.configs.size(),
                            result.carried.size());
}

namespace {

std::string decibels(const std::optional<double>& value) {
  return value ? fmt::format("SQNR {:.0f} dB or more", *value) : "identical to the original";
}

std::string run_text(const StatedRun& run) {
  return fmt::format("outputs {} on {} {} ({}, data {})", decibels(run.sqnr_db), run.samples,
                     run.is_generated   ? "random inputs"
                     : run.samples == 1 ? "sample"
                                        : "samples",
                     runtime_text(run.runtime_version), run.data);
}

const char* word_of(ProofFinding finding) {
  switch (finding) {
    case ProofFinding::kHolds: return "verified";
    case ProofFinding::kFails: return "FAILED";
    case ProofFinding::kNotChecked: break;
  }
  return "not checked";
}

}  // namespace

std::string prove_text(const Proof& proof) {
  const Statement& statement = proof.statement;
  std::string text = safe_format("{}: {}, written by Ounce {}\n", proof.model,
                                 name_and_label(statement.recipe.format), statement.version);
  text += safe_format("  command      {}\n", making_command(statement));
  if (statement.gate) {
    text += safe_format("  verified by  {}\n", judging_command(statement));
    text += safe_format("  result       {}\n", run_text(statement.gate->run));
    for (const StatedMetric& metric : statement.gate->metrics)
      text += safe_format("               {} {:.4g} (original: {:.4g}); drop {:.4g} to {:.4g} (95 % CI)\n",
                          metric.name, metric.candidate, metric.reference, metric.drop_low, metric.drop_high);
  } else if (statement.trial) {
    text += safe_format("  result       {}\n", run_text(*statement.trial));
  }
  std::string releases;
  for (const auto& [machine, version] : statement.releases)
    releases += fmt::format("{}{} {} or later", releases.empty() ? "" : ", ", machine, version);
  if (!releases.empty()) text += safe_format("  runs in      ONNX Runtime on {}\n", releases);
  for (const ProofStep& step : proof.steps)
    text += safe_format("  {:<12} {}: {}\n", step.name, std::string(word_of(step.finding)),
                        with_options(step.what));
  text += safe_format("  {}: {}\n", std::string(name_of(proof.verdict())), with_options(proof.reason()));
  return text;
}

std::string prove_table(const std::vector<ProveRow>& rows) {
  Table table({"model", "format", "provenance"});
  for (const ProveRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.filename().string(), "", "error"});
    } else {
      table.add({row.model.filename().string(), name_and_label(row.result.statement.recipe.format),
                 name_of(row.result.verdict())});
    }
  }
  return table.text();
}

namespace {

const char* state_of(const app::Unpacked& unpacked) {
  if (!unpacked.is_new) return "already in the cache";
  return unpacked.was_damaged ? "written again: the file in the cache was damaged" : "new";
}

}  // namespace

std::string unpack_text(const UnpackRow& row) {
  const app::Unpacked& unpacked = row.result;
  if (unpacked.file.empty())
    return safe_format("{}: not precompiled: {}\n", row.model.string(), unpacked.why_not);
  return safe_format("{}: {} → {}, for ONNX Runtime {} on {}, {}\n{}\n", row.model.string(),
                     bytes_text(unpacked.model_bytes), bytes_text(unpacked.bytes), unpacked.runtime_version,
                     unpacked.cpu, state_of(unpacked), unpacked.file.string());
}

std::string unpack_table(const std::vector<UnpackRow>& rows) {
  Table table({"model", ">model size", ">cache size", "state"});
  std::uint64_t packed = 0, unpacked = 0;
  for (const UnpackRow& row : rows) {
    const bool is_there = row.error.empty() && !row.result.file.empty();
    const char* const state = !row.error.empty()  ? "error"
                              : !is_there         ? "not precompiled"
                              : row.result.is_new ? "new"
                                                  : "cached";
    table.add({row.model.filename().string(), bytes_text(row.result.model_bytes),
               is_there ? bytes_text(row.result.bytes) : "", state});
    packed += row.result.model_bytes;
    unpacked += is_there ? row.result.bytes : 0;
  }
  table.add_rule();
  table.add({"total", bytes_text(packed), bytes_text(unpacked), ""});
  return table.text();
}

namespace {

constexpr double kMedian = 0.5, kTail = 0.99;

std::string shadow_decibels(double sqnr_db) {
  return sqnr_db == std::numeric_limits<double>::infinity() ? "exact" : decibel_text(sqnr_db);
}

}  // namespace

std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict) {
  std::string text = safe_format("candidate {} compared with {}, {} devices\n", statistics.candidate,
                                 statistics.primary, statistics.devices);
  text += fmt::format(
      "{} calls, {} compared, {} dropped; the candidate failed {} times ({} errors, {} crashes, {} timeouts, "
      "{} not finite)\n",
      statistics.calls, statistics.compared, statistics.dropped, statistics.failures(), statistics.errors,
      statistics.crashes, statistics.timeouts, statistics.not_finite);
  if (statistics.canary_calls != 0 || !statistics.canary_stopped.empty()) {
    text += safe_format("canary: {} calls, {} fallbacks, share {}{}\n", statistics.canary_calls,
                        statistics.canary_fallbacks, percent_text(statistics.canary_share),
                        statistics.canary_stopped.empty() ? "" : "; stopped: " + statistics.canary_stopped);
  }
  Table table({"output", ">SQNR", ">max |d|", ">predictions", ">changed"});
  for (const auto& [name, output] : statistics.outputs)
    table.add({name, shadow_decibels(output.sqnr_db()), fmt::format("{:.3g}", output.largest),
               std::to_string(output.answers), std::to_string(output.flips)});
  if (!statistics.outputs.empty()) text += table.text();
  Table times({"latency", ">p50", ">p99"});
  const auto add = [&](const char* who, const app::Latencies& latencies) {
    times.add({who, time_text(latencies.quantile(kMedian)), time_text(latencies.quantile(kTail))});
  };
  add("primary", statistics.primary_latency);
  add("candidate", statistics.candidate_latency);
  text += times.text();
  for (const std::string& reason : verdict.reasons) text += safe_format("{}\n", reason);
  return text + (verdict.passed     ? "passed\n"
                 : verdict.is_known ? "failed\n"
                                    : "unknown: more calls are needed\n");
}

}  // namespace ounce::report
