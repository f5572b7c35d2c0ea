#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quality.h"
#include "report/messages.h"
#include "report/recipe_command.h"
#include "report/reports.h"
#include "report/table.h"

namespace ounce::report {
namespace {

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "-";
}

// Formats with a sign, but avoids "-0.0000".
std::string signed_text(double value) {
  return safe_format("{:+.4f}", std::fabs(value) < 5e-5 ? 0.0 : value);
}

std::string output_table(const VerifyResult& result) {
  const bool has_flips = std::any_of(result.outputs.begin(), result.outputs.end(),
                                     [](const auto& output) { return output.flips.has_value(); });
  std::vector<std::string> columns = {"output",  ">values",     ">SQNR",       ">max |d|", ">mean |d|",
                                      ">cosine", ">same top-1", ">same top-5", ">NaN/Inf"};
  if (has_flips) columns.push_back(">changed decisions");
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

// Lists the worst part of each output that has parts of different kinds or scales.
std::string slice_lines(const std::vector<OutputComparison>& outputs) {
  std::string lines;
  for (const OutputComparison& output : outputs) {
    if (output.slices.empty()) continue;
    const OutputSlice& worst = output.slices.front();
    lines += safe_format("worst output part: {}: {} (whole output: {})\n", worst.name,
                         decibel_text(worst.sqnr_db), decibel_text(output.sqnr_db));
  }
  return lines;
}

std::string value_text(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4f}", value); }

std::string metric_table(const std::vector<MetricResult>& metrics) {
  Table table({"metric", ">reference", ">candidate", ">drop", ">95 % CI"});
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

// One line, and one for each case if one failed. The JSON document has all of them.
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
  std::string text = fmt::format("edge cases: {} passed", held);
  if (failed != 0) text += fmt::format(", {} FAILED", failed);
  if (left_out != 0) text += fmt::format(", {} skipped", left_out);
  return text + '\n' + (failed == 0 ? std::string() : lines);
}

}  // namespace

std::string verify_text(const VerifyResult& result) {
  std::string text = safe_format(
      "{} against {}: {} {}sample{}, {}\n", result.candidate.string(), result.reference.string(),
      result.samples, result.is_generated ? "random " : "", result.samples == 1 ? "" : "s", result.runtime);
  text += plain(with_options(result.verdict)) + '\n';
  // With --confidence, the verdict includes the certainty.
  if (!result.certainty.empty() && result.passed && !result.is_confidence_asked)
    text += safe_format("{}: {}\n", result.is_certain ? "certain" : "not certain",
                        with_options(result.certainty));
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
    text += fmt::format(
        "note: {}\n",
        note_text("random inputs show only how well the models agree; to measure accuracy, give `data`"));
  }
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", note_text(note));
  const bool has_numbers = std::any_of(result.outputs.begin(), result.outputs.end(), [](const auto& output) {
    return output.is_judged && !output.is_state && !output.is_label;
  });
  if (const std::string words = sqnr_words(result.worst_sqnr_db); has_numbers && !words.empty())
    text += words + '\n';
  return text;
}

std::string verify_table(const std::vector<VerifyRow>& rows) {
  Table table({"candidate", ">SQNR", ">max |d|", ">metric", ">drop", "verdict"});
  std::size_t passed = 0;
  for (const VerifyRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "-", "-", "error (see above)"});
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

namespace {

std::string speed_text(const SpeedUp& speed, bool is_base) {
  if (is_base) return "1";
  if (!speed.is_reliable) return "unknown: the machine is busy";
  if (speed.rounds < SpeedUp::kLeastRounds)
    return fmt::format("too few rounds ({:.3f}–{:.3f})", speed.low, speed.high);
  if (!speed.is_measurable)
    return fmt::format("no measurable difference ({:.3f}–{:.3f})", speed.low, speed.high);
  return fmt::format("{:.2f}× ({:.2f}–{:.2f})", speed.ratio, speed.low, speed.high);
}

// Latency percentiles include the time of other programs; ratios of CPU times do not.
std::string busy_note(const BenchReport& report) {
  const bool is_reliable = std::all_of(report.models.begin(), report.models.end(), [](const auto& model) {
    return std::all_of(model.batches.begin(), model.batches.end(),
                       [](const auto& batch) { return batch.speed_up.is_reliable; });
  });
  const std::string note = fmt::format(
      "the machine is busy: calls took {:.1f} times their CPU time, so latencies are too long. {}",
      report.load,
      is_reliable
          ? fmt::format("Speed-ups compare CPU times; their intervals were widened by {:.0f} % on both sides",
                        100 * SpeedUp::kBusyError)
          : "Speed-ups on several threads need an idle machine: stop other programs and run again");
  return fmt::format("note: {}\n", note_text(note));
}

constexpr std::size_t kShownOps = 10, kShownNodes = 5;

std::string share_text(double seconds, const Profile& profile) {
  return percent_text(profile.seconds > 0 ? seconds / profile.seconds : 0);
}

std::string profile_text(const BenchResult& model) {
  const Profile& profile = *model.profile;
  Table ops({"op", ">nodes", ">time", ">share"});
  for (std::size_t i = 0; i < std::min(kShownOps, profile.ops.size()); ++i) {
    const OpTime& op = profile.ops[i];
    ops.add(
        {op.op_type, fmt::format("{}", op.nodes), time_text(op.seconds), share_text(op.seconds, profile)});
  }
  Table nodes({"node", "op", ">time", ">share"});
  for (std::size_t i = 0; i < std::min(kShownNodes, profile.nodes.size()); ++i) {
    const NodeTime& node = profile.nodes[i];
    nodes.add({node.node, node.op_type, time_text(node.seconds), share_text(node.seconds, profile)});
  }
  const std::string delegated =
      profile.operators == 0
          ? std::string()
          : fmt::format("; XNNPACK runs {} of {} operators, {} of the time", profile.delegated,
                        profile.operators, percent_text(profile.delegated_share));
  return safe_format("{}: {} in nodes, {} of it in INT8 kernels ({} runs{})\n", model.model.string(),
                     time_text(profile.seconds), percent_text(profile.integer_share), profile.runs,
                     delegated) +
         ops.text() + nodes.text();
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  Table start(
      {"model", ">size", ">load", ">first run", ">cold start", ">peak memory", ">load peak", ">after load"});
  Table runs({"model", ">batch", ">p50", ">p90", ">p99", ">min", ">mean", ">samples/s", "speed (95 % CI)"});
  bool is_cache_dropped = true, has_cold_starts = true;
  for (const BenchResult& model : report.models) {
    const bool is_cold = model.cold_start_seconds > 0;
    has_cold_starts = has_cold_starts && is_cold;
    is_cache_dropped = is_cache_dropped && model.is_cache_dropped;
    start.add({model.model.string(), bytes_text(model.bytes), time_text(model.load_seconds),
               time_text(model.first_seconds), is_cold ? time_text(model.cold_start_seconds) : "-",
               is_cold ? bytes_text(model.peak_memory) : "-",
               model.load_memory ? bytes_text(model.load_memory->peak) : "-",
               model.load_memory ? bytes_text(model.load_memory->stays) : "-"});
    for (const BatchResult& batch : model.batches) {
      runs.add({model.model.string(), fmt::format("{}", batch.batch), time_text(batch.latency.p50),
                time_text(batch.latency.p90), time_text(batch.latency.p99), time_text(batch.latency.min),
                time_text(batch.latency.mean), fmt::format("{:.0f}", batch.samples_per_second),
                speed_text(batch.speed_up, &model == &report.models.front())});
    }
  }
  std::string text =
      safe_format("{}{}, {} thread{}, {} rounds, {} inputs\n", report.runtime,
                  report.cpu.empty() ? "" : " on " + report.cpu,
                  report.threads == 0 ? "all" : std::to_string(report.threads),
                  report.threads == 1 ? "" : "s", report.rounds, report.is_generated ? "random" : "real");
  text += start.text() + runs.text();
  for (const BenchResult& model : report.models) {
    if (model.profile) text += profile_text(model);
  }
  if (has_cold_starts && !is_cache_dropped)
    text += fmt::format(
        "note: {}\n",
        note_text("the file cache could not be dropped, so cold starts read the model from memory"));
  if (report.load > SpeedUp::kBusyLoad) text += busy_note(report);
  for (const std::string& note : report.notes) text += safe_format("note: {}\n", note_text(note));
  return text;
}

std::string decode_text(const DecodeReport& report) {
  Table table({"model", ">size", ">first token", ">next token, p50", ">p90", ">tokens/s", ">perplexity",
               ">changed tokens"});
  for (const DecodeResult& model : report.models) {
    const bool is_first = &model == &report.models.front();
    const double each = model.next_token.mean;
    table.add({model.model.string(), bytes_text(model.bytes), time_text(model.first_token.p50),
               time_text(model.next_token.p50), time_text(model.next_token.p90),
               each > 0 ? fmt::format("{:.1f}", 1 / each) : "-", fmt::format("{:.4f}", model.perplexity()),
               is_first ? "-"
                        : fmt::format("{} ({:.2f} %)", model.flips,
                                      100.0 * static_cast<double>(model.flips) /
                                          static_cast<double>(report.tokens))});
  }
  std::string text = safe_format(
      "ONNX Runtime {} on {}, {} thread{}: {} text{}, prompt of {} tokens, {} tokens after the prompt\n",
      report.runtime_version, report.cpu, report.threads == 0 ? "all" : std::to_string(report.threads),
      report.threads == 1 ? "" : "s", report.texts, report.texts == 1 ? "" : "s", report.prompt,
      report.tokens);
  text += table.text();
  for (const DecodeResult& model : report.models) {
    if (!model.is_cached)
      text +=
          safe_format("note: {}\n", note_text(model.model.filename().string() +
                                              " has no KV cache, so each token processes the whole text"));
  }
  for (const DecodeResult& model : report.models) {
    if (!model.verdict.empty())
      text += safe_format("{}: {}\n", model.model.filename().string(), with_options(model.verdict));
  }
  for (const std::string& note : report.notes) text += safe_format("note: {}\n", note_text(note));
  return text;
}

namespace {

constexpr double kLeastOfThreeDigits = 99.5;  // from here on, {:.2g} would print 1e+02

std::string two_digits(double percent) {
  return percent < kLeastOfThreeDigits ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent);
}

}  // namespace

std::string sqnr_words(double sqnr_db) {
  if (!std::isfinite(sqnr_db)) return "";
  const double off = 100 * std::pow(10, -sqnr_db / 20);
  const std::string text = fmt::format("output error {} %", two_digits(off));
  if (sqnr_db >= Quality::kHarmless) return text + ": predictions should not change";
  if (sqnr_db >= Quality::kVeryGood) return text + ": predictions very rarely change";
  if (sqnr_db >= Quality::kGood) return text + ": predictions rarely change";
  if (sqnr_db >= Quality::kMinUsable) return text + ": close predictions may change";
  return fmt::format("warning: {}: verify the accuracy before you use this model",
                     off < kLeastOfThreeDigits ? text : "output error 100 % or more");
}

std::string label_words(double sqnr_db) {
  if (!std::isfinite(sqnr_db)) return "";
  const std::string text =
      fmt::format("{} % of the labels changed", two_digits(100 * std::pow(10, -sqnr_db / 10)));
  return sqnr_db >= Quality::kMinUsable ? text : "warning: " + text;
}

namespace {

bool is_equal(double sqnr_db) { return std::isinf(sqnr_db) && sqnr_db > 0; }

std::string line_of(const CpuComparison& found) {
  if (!found.is_run()) return safe_format("{}: not run: {}", found.cpu, with_options(found.why_not));
  std::string text = safe_format("{}: ", found.cpu);
  if (is_equal(found.sqnr_db)) {
    text += "bit-identical to this CPU";
  } else {
    text += safe_format("{} SQNR relative to this CPU", decibel_text(found.sqnr_db));
    if (!std::isnan(found.reference_sqnr_db) && !is_equal(found.reference_sqnr_db))
      text += safe_format(" (original: {})", decibel_text(found.reference_sqnr_db));
  }
  if (found.flips != 0) {
    text += safe_format(", {} of {} predictions changed", found.flips, found.answers);
    if (!std::isnan(found.reference_sqnr_db)) text += safe_format(" (original: {})", found.reference_flips);
  }
  text += safe_format(", {} sample{}, {}, ONNX Runtime {}", found.samples, found.samples == 1 ? "" : "s",
                      found.how, found.runtime_version);
  return found.is_same() ? text : text + ": DIFFERENT";
}

}  // namespace

std::vector<std::string> cpu_lines(const std::vector<CpuComparison>& cpus) {
  std::vector<std::string> lines;
  for (const CpuComparison& found : cpus) lines.push_back(line_of(found));
  return lines;
}

}  // namespace ounce::report
