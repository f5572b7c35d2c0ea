#include "report/recipe_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "recipe/fields.h"

namespace ounce::report {
namespace {

struct Word {
  std::string_view field, option;
};

// Fields of include/ounce and the options that set them, except the fields of a recipe (recipe/fields.h). A
// value with its own option has its own line; any other value follows the option: `batch=1` is --batch 1.
// tools/check_words.py reads this table.
constexpr Word kWords[] = {
    // QuantizeOptions, CalibrateOptions, and where results go
    {"output", "--output"},
    {"trial.is_wanted=false", "--no-verify"},
    {"trial.allow_slower=true", "--allow-slower"},
    {"ranges", "--ranges"},
    {"importance", "--importance"},
    {"source", "--source"},
    {"variants", "--variants"},
    {"replace=true", "--replace"},
    {"external_data", "--external-data"},
    {"shards", "--shard"},
    // DataOptions
    {"data", "--data"},
    {"paths", "--data"},
    {"fields", "--input"},
    {"constants", "--set"},
    {"carry", "--carry"},
    {"labels", "--labels"},
    {"first", "--first"},
    {"samples", "--samples"},
    {"parts", "--part"},
    {"batch", "--batch"},
    {"shape", "--shape"},
    {"contract.inputs", "--for"},
    {"color_order", "--color"},
    {"layout", "--layout"},
    {"derive_contract=true", "--preprocess auto"},
    {"rescale_factor", "--rescale"},
    {"dumps", "--dump"},
    // VerifyOptions and other measurements
    {"gates.max_abs_diff", "--abs-tol"},
    {"gates.mean_abs_diff", "--mean-tol"},
    {"gates.min_sqnr", "--min-sqnr"},
    {"gates.min_agreement", "--min-agreement"},
    {"gates.max_drop", "--max-drop"},
    {"gates.set", "--gate"},
    {"max_drop", "--max-drop"},
    {"gates.confidence", "--confidence"},
    {"gates.max_mse", "--max-mse"},
    {"gates.max_flips", "--max-flips"},
    {"threshold", "--threshold"},
    {"task", "--task"},
    {"tags", "--tags"},
    {"metric_command", "--metric-command"},
    {"metric_command.seconds", "--metric-seconds"},
    {"metric", "--metric"},
    {"label_output", "--label-output"},
    {"outputs", "--outputs"},
    {"profile", "--profile"},
    {"measure", "--top"},
    {"cpus", "--on"},
    {"cpus={}", "--on none"},
    {"targets", "--target"},
    {"remote.via", "--via"},
    {"remote.launcher", "--launcher"},
    {"budget", "--budget"},
    {"cache", "--cache"},
    {"keep=false", "--no-cache"},
    // Functions and their verbs
    {"bench()", "'ounce bench'"},
    {"calibrate()", "'ounce calibrate'"},
    {"quantize()", "'ounce quantize'"},
    {"verify()", "'ounce verify'"},
    {"set_contract()", "'ounce contract set'"},
    {"tune()", "ounce tune"},
    {"verify() with cpus", "'ounce verify --on'"},
    {"bench() with remote.via", "ounce bench --via"},
};

std::optional<std::string_view> option_of(std::string_view field) {
  const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                         [&](const Word& word) { return word.field == field; });
  if (found == std::end(kWords)) return std::nullopt;
  return found->option;
}

// Empty for an unknown field.
std::string option_for(std::string_view text) {
  if (std::string option = option_of_recipe_field(text); !option.empty()) return option;
  if (const auto option = option_of(text)) return std::string(*option);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  const auto option = option_of(text.substr(0, equals));
  return option ? std::string(*option) + ' ' + std::string(text.substr(equals + 1)) : std::string();
}

thread_local bool names_parameters = false;

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string python_value(std::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? "True" : "False";
  return is_number(text) ? std::string(text) : fmt::format("\"{}\"", text);
}

// Converts "--min-sqnr 20" to min_sqnr=20, and "--no-verify" to verify=False.
std::string parameter_of(std::string_view option, bool is_flag) {
  const std::size_t blank = option.find(' ');
  std::string name(option.substr(2, blank == option.npos ? blank : blank - 2));
  std::replace(name.begin(), name.end(), '-', '_');
  if (name == "for") name += '_';  // a keyword of Python
  if (name == "expert" && blank != option.npos) {
    const std::string_view setting = option.substr(blank + 1);
    const std::size_t equals = std::min(setting.find('='), setting.size());
    return fmt::format(
        "expert={{\"{}\": {}}}", setting.substr(0, equals),
        equals == setting.size() ? std::string("…") : python_value(setting.substr(equals + 1)));
  }
  if (blank != option.npos) {
    const std::string value(option.substr(blank + 1));
    return name + '=' + (is_number(value) ? value : '"' + value + '"');
  }
  constexpr std::string_view kNo = "no_";
  const bool is_off = name.starts_with(kNo) && name != "no_cache";  // this parameter has no positive name
  if (is_off) return name.substr(kNo.size()) + "=False";
  return is_flag ? name + "=True" : name;
}

// Empty for an unknown field.
std::string parameter_for(std::string_view field) {
  if (field == "set_contract()") return "`contract.set()`";
  if (field == "verify() with cpus") return "`verify()` with `on`";
  if (field == "bench() with remote.via") return "`bench()` with `via`";
  const std::string option = option_for(field);
  if (option.empty()) return {};
  const bool is_flag = field.ends_with("=true") || field.ends_with("=false");
  return '`' + (option.starts_with("--") ? parameter_of(option, is_flag) : std::string(field)) + '`';
}

// An option that a verb names directly: `--max-drop`.
std::string named(std::string_view option) {
  return names_parameters ? '`' + parameter_of(option, /*is_flag=*/false) + '`' : std::string(option);
}

}  // namespace

NamesParameters::NamesParameters() : before_(std::exchange(names_parameters, true)) {}
NamesParameters::~NamesParameters() { names_parameters = before_; }

std::string option_of_field(std::string_view field) { return option_for(field); }

std::string with_options(std::string_view sentence) {
  std::string text;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t begin = sentence.find('`', at);
    const std::size_t end = begin == sentence.npos ? begin : sentence.find('`', begin + 1);
    if (end == sentence.npos) return text.append(sentence.substr(at));
    const std::string_view field = sentence.substr(begin + 1, end - begin - 1);
    const std::string option = field.starts_with("--") ? named(field)
                               : names_parameters      ? parameter_for(field)
                                                       : option_for(field);
    // If this was no field, its second backtick may start one.
    const std::size_t kept = option.empty() ? end : begin;
    text.append(sentence.substr(at, kept - at)).append(option);
    at = option.empty() ? end : end + 1;
  }
  return text;
}

std::vector<std::string> with_options(const std::vector<std::string>& sentences) {
  std::vector<std::string> texts;
  for (const std::string& sentence : sentences) texts.push_back(with_options(sentence));
  return texts;
}

std::vector<FieldRef> fields_in(std::string_view sentence) {
  std::vector<FieldRef> found;
  for (std::size_t begin = sentence.find('`'); begin != sentence.npos;) {
    const std::size_t end = sentence.find('`', begin + 1);
    if (end == sentence.npos) break;
    const std::string_view field = sentence.substr(begin + 1, end - begin - 1);
    const bool is_field = !option_for(field).empty() && !field.ends_with(')');
    const std::size_t equals = field.find('=');
    if (is_field)
      found.push_back({std::string(field.substr(0, equals)),
                       equals == field.npos ? "" : std::string(field.substr(equals + 1))});
    // If this was no field, its second backtick may start one.
    begin = is_field ? sentence.find('`', end + 1) : end;
  }
  return found;
}

std::string with_options(const Error& error) {
  const std::string_view text = error.what();
  const std::size_t name = error.where().size();
  return std::string(text.substr(0, name)) + with_options(text.substr(name));
}

namespace {

// Collects options by the names of the fields that they set.
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

std::string making_command(const Recipe& recipe) {
  Words words;
  if (info_of(recipe.format).needs_data) words.add("data", "DATA");
  return line_of(line_of("ounce quantize SOURCE -o OUT", options_of(recipe)), words.take());
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
  // --abs-tol and --metric-command have no confidence bound, so they would fail with --confidence.
  const bool has_bounds = !gate.gates.max_abs_diff && !gate.has_command;
  if (has_bounds && gate.gates.confidence && *gate.gates.confidence > 0)
    words.add_optional("gates.confidence", gate.gates.confidence, 100, "%");
  return line_of("ounce verify SOURCE MODEL", words.take());
}

}  // namespace ounce::report
