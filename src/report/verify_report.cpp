#include "report/verify_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>

#include "base/base64.h"
#include "report/cpu_report.h"
#include "report/json.h"
#include "report/option_words.h"
#include "report/sqnr_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Json = nlohmann::ordered_json;
using Align = Table::Align;

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "-";
}

// Without a minus before nothing.
std::string signed_text(double value) { return plainly("{:+.4f}", std::fabs(value) < 5e-5 ? 0.0 : value); }

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
    lines += plainly("worst slice: {}: {}, while the whole has {}\n", worst.name, decibel_text(worst.sqnr_db),
                     decibel_text(output.sqnr_db));
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
                   ? plainly("{} … {}", signed_text(metric.drop_low), signed_text(metric.drop_high))
                   : "-"});
  }
  return table.text();
}

std::string edge_lines(const std::vector<EdgeCase>& cases) {
  std::size_t held = 0, failed = 0, left_out = 0;
  std::string lines;
  for (const EdgeCase& edge : cases) {
    ++(edge.is_left_out ? left_out : edge.passed ? held : failed);
    lines += plainly("  {} {}: {}\n",
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

Json slice_json(const OutputSlice& slice) {
  Json json;
  json["name"] = slice.name;
  json["axis"] = slice.axis;
  json["ranges"] = Json::array();
  for (const IndexRange& range : slice.ranges) json["ranges"].push_back({range.begin, range.end});
  json["values"] = slice.values;
  json["rms"] = number(slice.rms);
  json["sqnr_db"] = number(slice.sqnr_db);
  json["sqnr_low_db"] = slice.sqnr_low_db ? number(*slice.sqnr_low_db) : Json(nullptr);
  json["identical"] = std::isinf(slice.sqnr_db) && slice.sqnr_db > 0;
  return json;
}

Json output_json(const OutputComparison& output) {
  const auto of_numbers = [&](double value) { return output.is_label ? Json(nullptr) : number(value); };
  Json json;
  json["name"] = output.name;
  json["type"] = output.type;
  json["kind"] = output.is_label ? "labels" : "numbers";
  json["judged"] = output.is_judged && !output.is_state;
  json["state"] = output.is_state;
  json["list"] = output.is_list;
  json["values"] = output.values;
  json["silent_values"] = output.silent_values;
  json["max_abs_diff"] = of_numbers(output.max_abs_diff);
  json["mean_abs_diff"] = of_numbers(output.mean_abs_diff);
  json["mse"] = of_numbers(output.mse);
  json["sqnr_db"] = of_numbers(output.sqnr_db);
  json["identical"] = std::isinf(output.sqnr_db) && output.sqnr_db > 0;
  json["sqnr_low_db"] = output.sqnr_low_db ? number(*output.sqnr_low_db) : Json(nullptr);
  json["agreement_low"] = output.agreement_low ? Json(*output.agreement_low) : Json(nullptr);
  json["mean_abs_diff_high"] = output.mean_abs_high ? number(*output.mean_abs_high) : Json(nullptr);
  json["mse_high"] = output.mse_high ? number(*output.mse_high) : Json(nullptr);
  json["flips_high"] = output.flips_high ? number(*output.flips_high) : Json(nullptr);
  json["cosine"] = of_numbers(output.cosine);
  json["top1_agreement"] = output.top1_agreement ? Json(*output.top1_agreement) : Json(nullptr);
  json["top5_agreement"] = output.top5_agreement ? Json(*output.top5_agreement) : Json(nullptr);
  json["answers_compared"] = output.answers;
  json["answers_changed"] = output.changed;
  json["changed_answers"] = Json::array();
  for (const ChangedAnswer& changed : output.changed_answers)
    json["changed_answers"].push_back({{"from", changed.from}, {"to", changed.to}, {"count", changed.count}});
  json["flips"] = output.flips ? Json(*output.flips) : Json(nullptr);
  json["decisions"] = output.decisions;
  json["reference_not_finite"] = output.reference_not_finite;
  json["candidate_not_finite"] = output.candidate_not_finite;
  json["newly_not_finite"] = output.newly_not_finite;
  json["slices"] = Json::array();
  for (const OutputSlice& slice : output.slices) json["slices"].push_back(slice_json(slice));
  return json;
}

Json metric_json(const MetricResult& metric) {
  Json json;
  json["name"] = metric.name;
  json["higher_is_better"] = metric.higher_is_better;
  json["unit"] = name_of(metric.unit);
  json["reference"] = number(metric.reference);
  json["candidate"] = number(metric.candidate);
  json["drop"] = number(metric.drop);
  json["why_not"] = with_options(metric.why_not);
  json["drop_low"] = metric.has_interval ? number(metric.drop_low) : Json(nullptr);
  json["drop_high"] = metric.has_interval ? number(metric.drop_high) : Json(nullptr);
  json["drop_bound"] = metric.drop_bound ? number(*metric.drop_bound) : Json(nullptr);
  return json;
}

// Nothing of the sample itself where nobody asked for pictures.
Json worst_json(const SampleDifference& worst) {
  Json json = {{"sample", worst.name}, {"output", worst.output}};
  json["max_abs_diff"] = worst.changed == 0 ? number(worst.max_abs_diff) : Json(nullptr);
  if (worst.changed != 0) json["answers_changed"] = worst.changed;
  if (worst.label) json["label"] = number(*worst.label);
  for (const ClassScore& answer : worst.answers) {
    json["answers"].push_back({{"class", answer.of_class},
                               {"reference", number(answer.reference)},
                               {"candidate", number(answer.candidate)}});
  }
  if (!worst.picture) return json;
  Json& picture = json["picture"];
  picture["input"] = worst.picture->input;
  if (!worst.picture->png.empty()) picture["png"] = base64(worst.picture->png);
  if (!worst.picture->lowest.empty()) {
    picture["lowest"] = worst.picture->lowest;
    picture["highest"] = worst.picture->highest;
  }
  return json;
}

Json row_json(const VerifyRow& row) {
  Json json;
  json["candidate"] = row.model.string();
  json["exit_code"] = row.exit_code;
  if (!row.error.empty()) {
    json["error"] = row.error;
    return json;
  }
  const VerifyResult& result = row.result;
  json["passed"] = result.passed;
  json["verdict"] = with_options(result.verdict);
  json["failures"] = with_options(result.failures);
  json["confidence"] = result.confidence;
  json["certain"] = result.is_certain;
  json["certainty"] = with_options(result.certainty);
  json["unbounded"] = with_options(result.unbounded);
  json["samples_needed"] = result.samples_needed == 0 ? Json(nullptr) : Json(result.samples_needed);
  json["max_abs_diff"] = number(result.max_abs_diff);
  json["mean_abs_diff"] = number(result.mean_abs_diff);
  json["agreement"] = Json(nullptr);
  for (const OutputComparison& output : result.outputs) {
    if (output.is_state || !output.is_judged || !output.top1_agreement) continue;
    const double least = json["agreement"].is_null() ? 1 : json["agreement"].get<double>();
    json["agreement"] = std::min(least, *output.top1_agreement);
  }
  json["runtime_version"] = result.runtime_version;
  json["cpu"] = result.cpu;
  json["samples"] = result.samples;
  json["generated"] = result.is_generated;
  json["outputs"] = Json::array();
  for (const OutputComparison& output : result.outputs) json["outputs"].push_back(output_json(output));
  json["metrics"] = Json::array();
  for (const MetricResult& metric : result.metrics) json["metrics"].push_back(metric_json(metric));
  json["edge_cases"] = Json::array();
  for (const EdgeCase& edge : result.edge_cases) {
    json["edge_cases"].push_back({{"name", edge.name},
                                  {"passed", edge.passed},
                                  {"left_out", edge.is_left_out},
                                  {"finding", with_options(edge.finding)}});
  }
  json["cpus"] = cpus_json(result.cpus);
  json["worst"] = Json::array();
  for (const SampleDifference& worst : result.worst) json["worst"].push_back(worst_json(worst));
  json["notes"] = with_options(result.notes);
  json["seconds"] = result.seconds;
  json["load_seconds"] = result.load_seconds;
  json["reference_seconds"] = result.reference_seconds;
  json["candidate_seconds"] = result.candidate_seconds;
  return json;
}

}  // namespace

std::string verify_text(const VerifyResult& result) {
  std::string text = plainly("{} against {}: {} {}sample{}, ONNX Runtime {}\n", result.candidate.string(),
                             result.reference.string(), result.samples, result.is_generated ? "random " : "",
                             result.samples == 1 ? "" : "s", result.runtime_version);
  text += output_table(result) + slice_lines(result.outputs);
  if (!result.metrics.empty()) text += metric_table(result.metrics);
  if (!result.worst.empty()) {
    text += "largest differences:";
    for (const SampleDifference& worst : result.worst)
      text += worst.changed == 0 ? plainly(" {} ({:.4g})", worst.name, worst.max_abs_diff)
                                 : plainly(" {} ({} labels)", worst.name, worst.changed);
    text += '\n';
  }
  if (!result.edge_cases.empty()) text += edge_lines(result.edge_cases);
  if (!result.cpus.empty()) text += "on other CPUs:\n";
  for (const std::string& line : cpu_lines(result.cpus)) text += plainly("  {}\n", line);
  if (result.is_generated) {
    text += with_options(
        "note: the inputs were random; they show that the models agree, not how good they are: give "
        "`data`\n");
  }
  for (const std::string& note : result.notes) text += plainly("note: {}\n", with_options(note));
  const bool has_numbers = std::any_of(result.outputs.begin(), result.outputs.end(), [](const auto& output) {
    return output.is_judged && !output.is_state && !output.is_label;
  });
  if (const std::string words = sqnr_words(result.worst_sqnr_db); has_numbers && !words.empty())
    text += words + '\n';
  // With a confidence that was asked for, the verdict says it.
  if (!result.certainty.empty() && result.passed && !result.is_confidence_asked)
    text +=
        plainly("{}: {}\n", result.is_certain ? "certain" : "not certain", with_options(result.certainty));
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

Json verify_json(const std::filesystem::path& reference, const std::vector<VerifyRow>& rows) {
  Json json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = "verify";
  json["reference"] = reference.string();
  // Of all candidates together, so that a script with one candidate need not look further. A candidate that
  // was not compared, or gives labels alone, has no differences: then nobody knows the largest.
  double largest = 0, mean = 0;
  bool passed = true, is_known = !rows.empty();
  for (const VerifyRow& row : rows) {
    passed = passed && row.error.empty() && row.result.passed;
    is_known = is_known && row.error.empty() && !std::isnan(row.result.max_abs_diff);
    largest = std::max(largest, row.result.max_abs_diff);
    mean = std::max(mean, row.result.mean_abs_diff);
  }
  json["passed"] = passed;
  json["max_abs_diff"] = is_known ? number(largest) : Json(nullptr);
  json["mean_abs_diff"] = is_known ? number(mean) : Json(nullptr);
  json["candidates"] = Json::array();
  for (const VerifyRow& row : rows) json["candidates"].push_back(row_json(row));
  return json;
}

}  // namespace ounce::report
