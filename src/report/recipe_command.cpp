#include "report/recipe_command.h"

#include <fmt/format.h>

#include "base/text.h"
#include "recipe/fields.h"
#include "report/option_words.h"

namespace ounce::report {
namespace {

// Collects options by the names of the fields that they set (option_words.cpp).
class Words {
 public:
  void add(const char* field, const std::string& value) {
    words_.push_back(option_of_field(field));
    words_.push_back(value);
  }
  template <class T>
  void add_unless(const char* field, const T& value, const T& usual) {
    if (value == usual) return;
    if constexpr (std::is_enum_v<T>) {
      add(field, name_of(value));
    } else {
      add(field, value);
    }
  }
  void add_optional(const char* field, const std::optional<double>& value, double factor, const char* unit) {
    if (value) add(field, fmt::format("{:.10g}{}", *value * factor, unit));
  }
  void add_all(const char* field, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(field, value);
  }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::vector<std::string> words_;
};

void add_selection(const Selection& selection, Words& words) {
  if (selection.first != 0) words.add("first", fmt::format("{}", selection.first));
  if (selection.samples != 0) words.add("samples", fmt::format("{}", selection.samples));
  if (selection.batch != 1) words.add("batch", fmt::format("{}", selection.batch));
  if (selection.parts != 1) words.add("parts", fmt::format("{}/{}", selection.part + 1, selection.parts));
}

std::string line_of(std::string line, const std::vector<std::string>& words) {
  for (const std::string& word : words) line += " " + quoted(word);
  return line;
}

const StatedRun* run_of(const Statement& statement) {
  if (statement.gate) return &statement.gate->run;
  return statement.trial ? &*statement.trial : nullptr;
}

}  // namespace

std::string making_command(const Statement& statement) {
  Words words;
  if (!statement.ranges.empty()) words.add("ranges", "RANGES");
  if (const StatedRun* run = run_of(statement); run != nullptr && !run->is_generated) {
    words.add("data", "DATA");
    add_selection(statement.calibration, words);
  }
  return line_of(line_of("ounce quantize SOURCE -o OUT", options_of(statement.recipe)), words.take());
}

std::string judging_command(const Statement& statement) {
  if (!statement.gate) return {};
  const StatedGate& gate = *statement.gate;
  const QualityOptions& quality = gate.quality;
  Words words;
  if (!gate.run.is_generated) words.add("data", "DATA");
  add_selection(gate.selection, words);
  if (!gate.run.labels.empty()) words.add("labels", "LABELS");
  words.add_unless("task", quality.task, Task::kAuto);
  if (quality.metric != kAutoMetric) words.add("metric", quality.metric);
  if (gate.has_command) words.add("metric_command", "COMMAND");
  if (!quality.tags.empty()) words.add("tags", fmt::format("{}", fmt::join(quality.tags, ",")));
  words.add_unless("label_output", quality.label_output, std::string());
  words.add_all("outputs", quality.outputs);
  words.add_optional("threshold", quality.threshold, 1, "");
  words.add_optional("gates.max_abs_diff", gate.gates.max_abs_diff, 1, "");
  words.add_optional("gates.mean_abs_diff", gate.gates.mean_abs_diff, 1, "");
  words.add_optional("gates.max_mse", gate.gates.max_mse, 1, "");
  words.add_optional("gates.min_sqnr", gate.gates.min_sqnr, 1, "");
  words.add_optional("gates.min_agreement", gate.gates.min_agreement, 100, "%");
  words.add_optional("gates.max_flips", gate.gates.max_flips, 100, "%");
  words.add_optional("gates.max_drop", gate.gates.max_drop, 100, "%");
  for (const auto& [name, limit] : gate.gates.max_drops)
    words.add("gates.max_drop", fmt::format("{}={:.10g}", name, limit));
  // Gates without a bound were judged on the samples; beside --confidence they would fail.
  const bool has_bounds = !gate.gates.max_abs_diff && !gate.has_command;
  if (has_bounds && gate.gates.confidence && *gate.gates.confidence > 0)
    words.add_optional("gates.confidence", gate.gates.confidence, 100, "%");
  return line_of("ounce verify SOURCE MODEL", words.take());
}

}  // namespace ounce::report
