#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "recipe/format_info.h"
#include "report/messages.h"
#include "report/recipe_command.h"
#include "report/reports.h"
#include "report/table.h"

namespace ounce::report {
namespace {

std::string speed_text(const TuneTrial& trial) {
  return trial.is_timed ? fmt::format("{:.2f}×", trial.speed_up.ratio) : "-";
}

std::string metric_text(const TuneTrial& trial) {
  if (!trial.metric || std::isnan(trial.metric->candidate)) return "-";
  return fmt::format("{:.4f}", trial.metric->candidate);
}

std::string agreement_text(const TuneTrial& trial) {
  return trial.agreement ? fmt::format("{:.2f} %", 100 * *trial.agreement) : "-";
}

// "passed", "failed: 300 of 307 samples needed at 95 % confidence", "passed, but slower than the original"
std::string gate_text(const TuneTrial& trial) {
  if (!trial.problem.empty()) return "-";
  if (trial.reason.empty()) return "passed";
  const bool has_failed = !trial.passed || !trial.held_out.value_or(true);
  return (has_failed ? "failed: " : "passed, but ") + with_options(trial.reason);
}

std::vector<std::string> corners_of(const TuneTrial& trial) {
  std::vector<std::string> corners;
  if (trial.is_smallest) corners.push_back("smallest");
  if (trial.is_fastest) corners.push_back("fastest");
  if (trial.is_closest) corners.push_back("most accurate");
  return corners;
}

// "◀ best", "Pareto front: fastest, most accurate"
std::string place_text(const TuneTrial& trial, bool is_best) {
  const std::vector<std::string> corners = corners_of(trial);
  const std::string place = is_best ? "◀ best" : trial.is_on_front ? "Pareto front" : "";
  if (corners.empty()) return place;
  return fmt::format("{}{}{}", place, place.empty() ? "" : ": ", fmt::join(corners, ", "));
}

Table trial_table(const TuneResult& result) {
  const bool has_memory = std::any_of(result.trials.begin(), result.trials.end(),
                                      [](const TuneTrial& trial) { return trial.memory.has_value(); });
  const auto speed_and_memory = [&](const TuneTrial& trial) {
    if (!has_memory) return speed_text(trial);
    return fmt::format("{}, {}", speed_text(trial), trial.memory ? percent_text(trial.memory_ratio) : "-");
  };
  Table table({"candidate", ">size", has_memory ? ">speed, memory" : ">speed", ">SQNR", ">same top-1",
               ">" + (result.best.metric ? result.best.metric->name : "metric"), "", "thresholds"});
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const TuneTrial& trial = result.trials[i];
    if (!trial.problem.empty()) continue;
    const bool is_best = i == result.best_trial;
    table.add({trial.name, percent_text(trial.ratio), speed_and_memory(trial), decibel_text(trial.sqnr_db),
               agreement_text(trial), metric_text(trial), place_text(trial, is_best && result.passed),
               gate_text(trial)});
  }
  return table;
}

// "12 int8 (INT8 static, W8A8); 3 w8 (8-bit weights, W8A32): conv_post, …"
std::string layers_text(const std::vector<LayerChoice>& layers) {
  std::map<std::string, std::vector<std::string>> by_format;
  for (const LayerChoice& layer : layers) by_format[name_and_label(layer.format)].push_back(layer.name);
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(by_format.begin(), by_format.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::vector<std::string> parts;
  constexpr std::size_t kNamed = 4;
  for (const auto& [format, names] : sorted) {
    std::string part = safe_format("{} {}", names.size(), format);
    if (names.size() <= kNamed && sorted.size() > 1) part += fmt::format(": {}", fmt::join(names, ", "));
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string trial_line(const TuneTrial& trial) {
  if (!trial.problem.empty()) return safe_format("{}: {}\n", trial.name, with_options(trial.problem));
  return safe_format("{}: {}, {}, {}, {}\n", trial.name, percent_text(trial.ratio), speed_text(trial),
                     decibel_text(trial.sqnr_db), gate_text(trial));
}

std::string tune_text(const TuneResult& result) {
  std::string text =
      safe_format("{}: {} samples for the search, {} held out, {}\n", result.model.string(),
                  result.search_samples, result.held_out_samples, runtime_text(result.runtime_version));
  text += trial_table(result).text();
  for (const TuneTrial& trial : result.trials) {
    if (!trial.problem.empty())
      text += safe_format("could not be made: {}: {}\n", trial.name, with_options(trial.problem));
  }
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", note_text(note));
  if (result.is_interrupted) text += "interrupted: this is the best candidate so far\n";
  if (result.is_out_of_time)
    text +=
        with_options("the budget ended before all candidates were tried; increase `budget` to try more\n");
  if (!result.layers.empty()) text += safe_format("layers: {}\n", layers_text(result.layers));
  for (const std::string& line : cpu_lines(result.cpus)) text += safe_format("on {}\n", line);
  if (result.passed) {
    text += result.held_out.samples > result.held_out_samples
                ? safe_format("on all {} samples (none was used to make the model): {}\n",
                              result.held_out.samples, with_options(result.held_out.verdict))
                : safe_format("on held-out samples: {}\n", with_options(result.held_out.verdict));
    const SpeedUp& speed = result.best.speed_up;
    text += safe_format("{}: {}, {} of the size, {}\n", result.output.string(), result.best.name,
                        percent_text(result.best.ratio),
                        result.best.is_timed ? fmt::format("{:.2f}× speed (95 % CI {:.2f}–{:.2f})",
                                                           speed.ratio, speed.low, speed.high)
                                             : "speed not measured (measure it with 'ounce bench')");
  } else if (!result.closest.empty()) {
    // A candidate that met its thresholds was rejected for another reason, such as its speed.
    const bool has_passed = result.best.passed && result.best.held_out.value_or(true);
    const std::string but = has_passed ? ", but " + with_options(result.best.reason) : "";
    text += safe_format("nothing passed; the closest candidate is {}: {}{}\nit was written to {}\n",
                        result.best.name, with_options(result.best.verdict), but, result.closest.string());
    if (result.samples_needed != 0)
      text += safe_format(
          "not enough samples: {} needed{}; {}\n", result.samples_needed,
          result.best.more_samples == 0
              ? ""
              : fmt::format(", {} given", result.samples_needed - result.best.more_samples),
          with_options(
              "add samples, relax the thresholds, lower `gates.confidence`, or judge only these samples with "
              "`gates.confidence=none`"));
  } else {
    text += "no candidate could be made\n";
  }
  return text;
}

std::string tune_table(const std::vector<TuneRow>& rows) {
  Table table({"model", "best", ">size", ">speed", ">SQNR", "result"});
  for (const TuneRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "-", "-", "error"});
      continue;
    }
    const TuneTrial& best = row.result.best;
    table.add({row.model.string(), best.name.empty() ? "-" : best.name, percent_text(best.ratio),
               speed_text(best), decibel_text(best.sqnr_db),
               row.result.passed ? "passed" : "nothing passed"});
  }
  return table.text();
}

namespace {

constexpr double kBar = 12;  // length of the longest bar, in characters

std::string drop_text(const std::optional<double>& drop) {
  return drop ? safe_format("{:+.4f}", std::fabs(*drop) < 5e-5 ? 0.0 : *drop) : "-";
}

std::string marks_of(const GroupSensitivity& group) {
  std::string marks;
  const auto add = [&](bool is, const char* mark) {
    if (is) marks += (marks.empty() ? "" : ", ") + std::string(mark);
  };
  add(group.is_first, "first");
  add(group.is_last, "last");
  add(group.is_attention, "attention");
  return marks;
}

std::string bar_of(double share, double largest) {
  const double length = largest > 0 ? kBar * share / largest : 0;
  return std::string(static_cast<std::size_t>(std::lround(length)), '#');
}

std::string group_table(const SensitivityResult& result) {
  const bool has_metric = !result.metric.empty();
  std::vector<std::string> columns = {">",          "layer",    "op",         ">weights",
                                      ">estimated", ">only it", ">all but it"};
  if (has_metric) {
    columns.insert(columns.end(), {">drop, only it", ">drop, all but it"});
  }
  columns.insert(columns.end(), {">noise", "", ""});
  Table table(columns);
  std::size_t rank = 0;
  for (const GroupSensitivity& group : result.groups) {
    if (!group.is_measured) break;
    const bool is_one = group.layers.size() == 1;
    std::vector<std::string> cells = {fmt::format("{}", ++rank),
                                      group.name,
                                      is_one ? group.op_type : fmt::format("{} layers", group.layers.size()),
                                      bytes_text(group.weight_bytes),
                                      decibel_text(group.estimated_db),
                                      decibel_text(group.alone_db),
                                      decibel_text(group.without_db)};
    if (has_metric) cells.insert(cells.end(), {drop_text(group.alone_drop), drop_text(group.without_drop)});
    cells.insert(cells.end(), {fmt::format("{:.1f} %", 100 * group.share),
                               bar_of(group.share, result.groups.front().share), marks_of(group)});
    table.add(std::move(cells));
  }
  return table.text();
}

// Summarizes the groups that were not measured in one line.
std::string rest_line(const SensitivityResult& result) {
  std::size_t count = 0;
  double worst = INFINITY;
  for (const GroupSensitivity& group : result.groups) {
    if (group.is_measured) continue;
    ++count;
    worst = std::min(worst, group.estimated_db);
  }
  if (count == 0) return {};
  return safe_format("{} more not measured, estimated at {} or better: {}\n", count, decibel_text(worst),
                     with_options("omit `measure` to measure all"));
}

// Quotes text for a shell.
std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

std::string exclude_lines(const SensitivityResult& result, double min_sqnr) {
  if (result.exclude.empty() && result.is_enough)
    return safe_format("{} reaches {:g} dB without excluding layers\n", name_of(result.format), min_sqnr);
  if (result.exclude.empty())
    return safe_format("excluding layers does not bring the outputs closer to {:g} dB\n", min_sqnr);
  std::string text = result.is_enough
                         ? safe_format("options to reach {:g} dB ({} measured):\n", min_sqnr,
                                       decibel_text(result.exclude_db))
                         : safe_format("{:g} dB cannot be reached; best options ({} measured):\n", min_sqnr,
                                       decibel_text(result.exclude_db));
  text += safe_format("  --to {}{}", name_of(result.format),
                      is_static(result.format) ? " --no-search --no-equalize" : "");
  for (const auto& [node, format] : result.nodes)
    text += " --node " + quoted(fmt::format("{}={}", escaped(node), name_of(format)));
  if (!result.nodes.empty()) return text + '\n';
  for (const std::string& expression : result.exclude) text += " --exclude " + quoted(escaped(expression));
  return text + '\n';
}

}  // namespace

std::string sensitivity_text(const SensitivityResult& result, double min_sqnr) {
  std::string text = safe_format("{} to {}: {} sample{}, {}, all layers quantized: {}", result.model.string(),
                                 name_of(result.format), result.samples, result.samples == 1 ? "" : "s",
                                 runtime_text(result.runtime_version), decibel_text(result.all_db));
  if (!result.metric.empty())
    text += safe_format(", {} {:.4f} (drop {})", result.metric, result.metric_reference,
                        drop_text(result.all_drop));
  text += '\n' + group_table(result) + rest_line(result);
  for (const std::string& finding : result.findings) text += plain(with_options(finding)) + '\n';
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", note_text(note));
  text += exclude_lines(result, min_sqnr);
  return text + safe_format("{} model{} measured, {} from the cache, {}\n", result.measured,
                            result.measured == 1 ? "" : "s", result.recalled, seconds_text(result.seconds));
}

namespace {

constexpr std::size_t kWidth = 110;  // line width in characters
constexpr std::size_t kLabel = 11;   // width of the labels on the left

const char* meaning_of(SizeClass size) {
  switch (size) {
    case SizeClass::kSmall: return "small: a smaller file brings little";
    case SizeClass::kMedium: return "medium: a smaller file helps if downloads or memory matter";
    case SizeClass::kLarge: break;
  }
  return "large: a smaller file is essential for downloads";
}

std::string speed_text(const MethodFinding& method) {
  const SpeedUp& speed = method.speed_up;
  if (!method.is_timed())
    return speed.rounds != 0 && !speed.is_reliable ? "machine too busy" : "not measured";
  if (!speed.is_measurable) return "no difference";
  return fmt::format("{:.2f}× ({:.2f}–{:.2f})", speed.ratio, speed.low, speed.high);
}

// Wraps text to lines of kWidth; all lines but the first are indented.
std::string wrapped(const std::string& given, std::size_t indent) {
  const std::string text = plain(given);
  std::string result;
  std::size_t column = indent, at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const auto width = static_cast<std::size_t>(std::count_if(
        word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    if (column > indent && column + 1 + width > kWidth) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width;
    at = end + 1;
  }
  return result + '\n';
}

std::string labelled(const std::string& label, const std::string& text) {
  return fmt::format("{:<{}}", label, kLabel) + wrapped(text, kLabel);
}

std::string listed(const std::string& title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += labelled(text.empty() ? title : "", with_options(line));
  return text;
}

std::string baseline_text(const Baseline& baseline) {
  if (!baseline.is_measured) return safe_format("not run: {}", with_options(baseline.why_not));
  std::string text = safe_format("{} per call (p99 {}), load {}, cold start {}, peak memory {}",
                                 time_text(baseline.latency.p50), time_text(baseline.latency.p99),
                                 time_text(baseline.load_seconds), time_text(baseline.cold_start_seconds),
                                 bytes_text(baseline.peak_memory));
  for (const MetricResult& metric : baseline.metrics) {
    if (!std::isnan(metric.reference)) text += safe_format(", {} {:.4f}", metric.name, metric.reference);
  }
  return text;
}

// "QLinearConv 43 %, QLinearMul 7 %, …"
std::string time_goes_text(const Profile& profile) {
  constexpr std::size_t kNamed = 5;
  constexpr double kWorthNaming = 0.02;
  std::vector<std::string> parts;
  for (const OpTime& op : profile.ops) {
    const double share = profile.seconds > 0 ? op.seconds / profile.seconds : 0;
    if (parts.size() == kNamed || share < kWorthNaming) break;
    parts.push_back(safe_format("{} {:.0f} %", op.op_type, 100 * share));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> time_goes_lines(const AdviseResult& result) {
  std::vector<std::string> lines;
  if (result.baseline.profile) lines.push_back("the original: " + time_goes_text(*result.baseline.profile));
  for (const MethodFinding& method : result.methods) {
    if (!method.profile) continue;
    lines.push_back(fmt::format("{}: {}; {:.0f} % in INT8 kernels", name_of(method.format),
                                time_goes_text(*method.profile), 100 * method.profile->integer_share));
  }
  return lines;
}

std::string measured_text(const AdviseResult& result) {
  std::string text = safe_format("ONNX Runtime {}; ", result.baseline.runtime_version);
  if (result.is_generated) {
    text += fmt::format("compared on {} random inputs", result.quality_samples);
  } else {
    text += fmt::format("compared on {} of {} samples", result.quality_samples, result.samples);
    for (const MethodFinding& method : result.methods) {
      if (info_of(method.format).needs_data && method.is_measured)
        text += fmt::format(" ({} on {}, calibrated on {} other samples)", name_of(method.format),
                            method.samples, result.calibration_samples);
    }
  }
  return text + fmt::format("; {:.0f} s of {:.0f} s used", result.seconds, result.budget);
}

std::string method_table(const AdviseResult& result) {
  Table table({"method", ">size", ">", "speed (95 % CI)", ">memory", ">SQNR", "acceptable"});
  bool has_rows = false;
  for (const MethodFinding& method : result.methods) {
    if (!method.is_measured) continue;
    has_rows = true;
    const char* verdict = method.is_acceptable ? "yes" : method.is_uncertain ? "uncertain" : "NO";
    table.add({name_and_label(method.format), bytes_text(method.bytes), percent_text(method.ratio),
               speed_text(method), method.peak_memory == 0 ? "-" : bytes_text(method.peak_memory),
               decibel_text(method.sqnr_db), safe_format("{}: {}", verdict, with_options(method.quality))});
  }
  return has_rows ? '\n' + table.text() : "";
}

std::vector<std::string> unmeasured(const AdviseResult& result) {
  std::vector<std::string> lines;
  for (const MethodFinding& method : result.methods) {
    if (!method.is_measured) lines.push_back(safe_format("{}: {}", name_of(method.format), method.why_not));
  }
  return lines;
}

std::vector<std::string> risk_lines(const std::vector<Risk>& risks) {
  std::vector<std::string> lines;
  for (const Risk& risk : risks) {
    lines.push_back(risk.evidence);
    if (!risk.advice.empty()) lines.push_back("→ " + risk.advice);
  }
  return lines;
}

}  // namespace

std::string advise_text(const AdviseResult& result) {
  std::string text =
      safe_format("{}\n", result.model.string()) + wrapped(with_options(result.headline), 0) + '\n';
  text += listed("why", result.reasons);
  text += labelled("model", safe_format("{}, {} ({})", result.family.description, bytes_text(result.bytes),
                                        meaning_of(result.size)));
  for (const std::string& reason : result.family.reasons) text += labelled("", with_options(reason));
  text += labelled("original", baseline_text(result.baseline));
  if (!result.methods.empty()) {
    text += labelled("measured", result.baseline.is_measured ? measured_text(result) : "nothing");
    text += method_table(result) + '\n';
    text += listed("time by op", time_goes_lines(result));
    text += listed("not tried", unmeasured(result));
  }
  text += listed("risks", risk_lines(result.risks));
  text += listed("needed", result.missing);
  text += listed("notes", result.notes);
  if (!result.commands.empty()) text += '\n';
  for (const RecommendedCommand& command : result.commands)
    text += safe_format("# {}\n", with_options(command.why)) + escaped(command.line) + '\n';
  return text;
}

std::string advise_table(const std::vector<AdviseRow>& rows) {
  Table table({"model", ">size", "family", "advice"});
  std::size_t worthwhile = 0, unknown = 0;
  for (const AdviseRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "error (see above)"});
      continue;
    }
    table.add({row.model.string(), bytes_text(row.result.bytes), row.result.family.description,
               with_options(row.result.headline)});
    const AdviceVerdict verdict = row.result.verdict;
    worthwhile += verdict == AdviceVerdict::kQuantize || verdict == AdviceVerdict::kStoreSmall ? 1U : 0U;
    unknown += verdict == AdviceVerdict::kUnknown ? 1U : 0U;
  }
  table.add_rule();
  table.add({fmt::format("total {}", rows.size()), "", "",
             fmt::format("{} worth quantizing{}", worthwhile,
                         unknown == 0 ? "" : fmt::format(", {} unknown", unknown))});
  return table.text();
}

}  // namespace ounce::report
