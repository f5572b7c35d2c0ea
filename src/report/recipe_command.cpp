#include "report/recipe_command.h"

#include <fmt/format.h>

#include "base/text.h"
#include "recipe/format_info.h"
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
  void add_flag(const char* field) { words_.push_back(option_of_field(field)); }
  template <class T>
  void add_unless(const char* field, const T& value, const T& usual) {
    if (value == usual) return;
    if constexpr (std::is_enum_v<T>) {
      add(field, name_of(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      add_flag(field);
    } else {
      add(field, fmt::format("{}", value));
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

void add_integer(const IntegerRecipe& integer, bool is_static, Words& words) {
  const IntegerRecipe usual;
  words.add_unless("integer.dialect", integer.dialect, usual.dialect);
  words.add_unless("integer.activations", integer.activations, usual.activations);
  words.add_unless("integer.symmetric_activations", integer.symmetric_activations,
                   usual.symmetric_activations);
  words.add_unless("integer.weights", integer.weights, usual.weights);
  if (integer.reduce_range)
    words.add_flag(*integer.reduce_range ? "integer.reduce_range=true" : "integer.reduce_range=false");
  words.add_unless("integer.integer_io", integer.integer_io, usual.integer_io);
  words.add_unless("integer.force_conv", integer.force_conv, usual.force_conv);
  words.add_unless("integer.calibration", integer.calibration, usual.calibration);
  words.add_unless("integer.percentile", integer.percentile, usual.percentile);
  if (is_static) words.add_flag("integer.search=false");  // what it found is in the other words
  if (!integer.equalize) words.add_flag("integer.equalize=false");
  if (integer.equalize && !integer.values.empty()) words.add_flag("integer.equalize=true");
  if (!integer.correct_bias) words.add_flag("integer.correct_bias=false");
  if (integer.every_second) words.add_flag("integer.every_second");
  for (const Rewrite rewrite : integer.skip_rewrites) words.add("integer.skip_rewrites", name_of(rewrite));
  if (!integer.weigh_costs) words.add_flag("integer.weigh_costs=false");
  if (integer.half_rest) words.add("integer.half_rest", "fp16");
  for (const auto& [name, value] : integer.values) {
    if (value.range)
      words.add("integer.values", fmt::format("{}={}:{}", name, value.range->low, value.range->high));
    if (value.method) words.add("integer.values", fmt::format("{}={}", name, name_of(*value.method)));
    if (value.type) words.add("integer.values", fmt::format("{}={}", name, name_of(*value.type)));
    if (value.keep_float) words.add("integer.values", name + "=float");
  }
}

void add_few_bits(const FewBitsRecipe& few_bits, Words& words) {
  const FewBitsRecipe usual;
  words.add_unless("few_bits.dialect", few_bits.dialect, usual.dialect);
  words.add_unless("few_bits.accuracy_level", few_bits.accuracy_level, usual.accuracy_level);
  words.add_unless("few_bits.method", few_bits.method, usual.method);
  if (few_bits.bits != usual.bits) words.add("few_bits.bits", fmt::format("{:.10g}", few_bits.bits));
  if (few_bits.target_size != usual.target_size)
    words.add("few_bits.target_size", fmt::format("{}", few_bits.target_size));
  for (const auto& [name, level] : few_bits.levels)
    words.add("few_bits.levels", fmt::format("{}={}", name, name_of(level)));
}

void add_half(const HalfRecipe& half, Words& words) {
  if (half.half_io) words.add("half.half_io", "fp16");
  words.add_all("half.keep", half.keep);
  if (half.keep_names) words.add_flag("half.keep_names");
}

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

std::vector<std::string> recipe_words(const Recipe& recipe) {
  const Recipe usual;
  Words words;
  words.add("format", name_of(recipe.format));
  words.add_unless("target", recipe.target, usual.target);
  words.add_unless("decoder", recipe.decoder, usual.decoder);
  words.add_unless("memory", recipe.memory, usual.memory);
  if (recipe.decode_share != usual.decode_share)
    words.add("decode_share", fmt::format("{:.10g}", 100 * recipe.decode_share));
  if (recipe.granularity.kind == GranularityKind::kBlock) {
    words.add("granularity",
              fmt::format("{}:{}", name_of(recipe.granularity.kind), recipe.granularity.block));
  } else {
    words.add_unless("granularity", recipe.granularity.kind, usual.granularity.kind);
  }
  words.add_unless("scale", recipe.scale, usual.scale);
  words.add_unless("rounding", recipe.rounding, usual.rounding);
  words.add_unless("codebook", recipe.codebook, usual.codebook);
  words.add_unless("asymmetric", recipe.asymmetric, usual.asymmetric);
  words.add_unless("min_bytes", recipe.min_bytes, usual.min_bytes);
  if (recipe.half_share != usual.half_share)
    words.add("half_share", fmt::format("{:.10g}", 100 * recipe.half_share));
  words.add_all("include", recipe.include);
  words.add_all("exclude", recipe.exclude);
  words.add_unless("ignore_unmatched", recipe.ignore_unmatched, false);
  if (recipe.keep_inputs) words.add_flag("keep_inputs=true");
  for (const auto& [name, format] : recipe.nodes)
    words.add("nodes", fmt::format("{}={}", name, name_of(format)));
  if (recipe.is_integer()) add_integer(recipe.integer, is_static(recipe.format), words);
  if (is_few_bits(recipe.format)) add_few_bits(recipe.few_bits, words);
  if (recipe.is_half() || recipe.integer.half_rest) add_half(recipe.half, words);
  return words.take();
}

std::string making_command(const Statement& statement) {
  Words words;
  if (!statement.ranges.empty()) words.add("ranges", "RANGES");
  if (const StatedRun* run = run_of(statement); run != nullptr && !run->is_generated) {
    words.add("data", "DATA");
    add_selection(statement.calibration, words);
  }
  return line_of(line_of("ounce quantize SOURCE -o OUT", recipe_words(statement.recipe)), words.take());
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
