#include "report/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "recipe/format_info.h"
#include "report/recipe_command.h"
#include "report/sqnr_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

std::string speed_text(const TuneTrial& trial) {
  return trial.is_timed ? fmt::format("{:.2f} ×", trial.speed_up.ratio) : "-";
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
  if (trial.is_closest) corners.push_back("closest");
  return corners;
}

// "◀ best", "on the front: fastest, closest"
std::string place_text(const TuneTrial& trial, bool is_best) {
  const std::vector<std::string> corners = corners_of(trial);
  const std::string place = is_best ? "◀ best" : trial.is_on_front ? "on the front" : "";
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
  Table table({{"tried"},
               {"size", Align::kRight},
               {has_memory ? "speed, memory" : "speed", Align::kRight},
               {"SQNR", Align::kRight},
               {"same top-1", Align::kRight},
               {result.best.metric ? result.best.metric->name : "metric", Align::kRight},
               {""},
               {"gate"}});
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
      safe_format("{}: {} samples to search on, {} held out, ONNX Runtime {}\n", result.model.string(),
                  result.search_samples, result.held_out_samples, result.runtime_version);
  text += trial_table(result).text();
  for (const TuneTrial& trial : result.trials) {
    if (!trial.problem.empty())
      text += safe_format("not made: {}: {}\n", trial.name, with_options(trial.problem));
  }
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", with_options(note));
  if (result.is_interrupted) text += "stopped: this is the best so far\n";
  if (result.is_out_of_time)
    text += with_options("the budget was used up before everything was tried: more `budget` may find more\n");
  if (!result.layers.empty()) text += safe_format("layers: {}\n", layers_text(result.layers));
  for (const std::string& line : cpu_lines(result.cpus)) text += safe_format("on {}\n", line);
  if (result.passed) {
    text += result.held_out.samples > result.held_out_samples
                ? safe_format("on all {} samples, as it was made without them: {}\n", result.held_out.samples,
                              with_options(result.held_out.verdict))
                : safe_format("held out: {}\n", with_options(result.held_out.verdict));
    const SpeedUp& speed = result.best.speed_up;
    text += safe_format("{}: {}, {} of the bytes, {}\n", result.output.string(), result.best.name,
                        percent_text(result.best.ratio),
                        result.best.is_timed ? fmt::format("{:.2f} × as fast ({:.2f} … {:.2f})", speed.ratio,
                                                           speed.low, speed.high)
                                             : "not timed: measure its speed with 'ounce bench'");
  } else if (!result.closest.empty()) {
    // A model that passed its gate and still is not the answer has another reason.
    const bool has_passed = result.best.passed && result.best.held_out.value_or(true);
    const std::string but = has_passed ? ", but " + with_options(result.best.reason) : "";
    text += safe_format("nothing passed; closest came {}: {}{}\nit is kept as {}\n", result.best.name,
                        with_options(result.best.verdict), but, result.closest.string());
    if (result.samples_needed != 0)
      text += safe_format(
          "not enough samples: {} needed{}; {}\n", result.samples_needed,
          result.best.more_samples == 0
              ? ""
              : fmt::format(", {} given", result.samples_needed - result.best.more_samples),
          with_options(
              "add samples, relax the gate, lower `gates.confidence`, or judge these samples alone with "
              "`gates.confidence=none`"));
  } else {
    text += "nothing could be made\n";
  }
  return text;
}

std::string tune_table(const std::vector<TuneRow>& rows) {
  Table table({{"model"},
               {"best"},
               {"size", Align::kRight},
               {"speed", Align::kRight},
               {"SQNR", Align::kRight},
               {"result"}});
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

}  // namespace ounce::report
