#include "quantize/statement.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "evaluate/compare/worst_output.h"
#include "formats/open.h"
#include "quantize/recipe_json.h"

namespace ounce::quantization {
namespace {

using nlohmann::json;

constexpr int kVersion = 2, kOldVersion = 1;
constexpr std::size_t kTrialRoom = 176;  // largest size of a trial's text
constexpr std::size_t kDigits = 64;      // of a digest
constexpr int kMostDecibels = 999;
constexpr JsonLimits kLimits{.depth = 8};

json selection_json(const Selection& selection) {
  json made = json::object();
  if (selection.first != 0) made["first"] = selection.first;
  if (selection.samples != 0) made["samples"] = selection.samples;
  if (selection.parts != 1) made["part"] = {selection.part, selection.parts};
  if (selection.batch != 1) made["batch"] = selection.batch;
  return made;
}

Selection selection_from(const json& made) {
  Selection selection;
  const auto at = [&](const char* key, std::uint64_t otherwise) {
    return made.contains(key) ? whole_number(made[key]) : otherwise;
  };
  selection.first = at("first", 0);
  selection.samples = at("samples", 0);
  if (made.contains("part")) {
    selection.part = whole_number(made["part"].at(0));
    selection.parts = whole_number(made["part"].at(1));
  }
  selection.batch = at("batch", 1);
  if (selection.batch == 0 || selection.parts == 0 || selection.part >= selection.parts)
    throw json::other_error::create(501, "", &made);
  return selection;
}

json run_json(const StatedRun& run) {
  json made = {{"runtime", run.runtime_version}, {"samples", run.samples}, {"data", run.data}};
  if (run.is_generated) made["generated"] = true;
  if (!run.labels.empty()) made["labels"] = run.labels;
  if (run.sqnr_db) made["sqnr_db"] = static_cast<int>(*run.sqnr_db);
  return made;
}

StatedRun run_from(const json& made) {
  StatedRun run;
  run.runtime_version = made.at("runtime");
  run.samples = whole_number(made.at("samples"));
  run.data = made.at("data");
  run.is_generated = made.value("generated", false);
  run.labels = made.value("labels", std::string());
  if (made.contains("sqnr_db")) {
    if (!made["sqnr_db"].is_number_integer())
      throw json::other_error::create(501, "not a whole number", &made);
    const auto decibels = made["sqnr_db"].get<std::int64_t>();
    run.sqnr_db = static_cast<double>(std::clamp<std::int64_t>(decibels, -kMostDecibels, kMostDecibels));
  }
  return run;
}

// Calls `each` with every optional gate and its name, for writing and reading.
template <class SomeGates, class Each>
void each_gate(SomeGates& gates, const Each& each) {
  each("max_abs_diff", gates.max_abs_diff);
  each("mean_abs_diff", gates.mean_abs_diff);
  each("min_sqnr", gates.min_sqnr);
  each("min_agreement", gates.min_agreement);
  each("max_drop", gates.max_drop);
  each("max_mse", gates.max_mse);
  each("max_flips", gates.max_flips);
  each("confidence", gates.confidence);
}

json gates_json(const Gates& gates) {
  json made = json::object();
  each_gate(gates, [&](const char* key, const std::optional<double>& value) {
    if (value) made[key] = *value;
  });
  for (const auto& [name, limit] : gates.max_drops) made["max_drops"][name] = limit;
  return made;
}

Gates gates_from(const json& made) {
  Gates gates;
  each_gate(gates, [&](const char* key, std::optional<double>& value) {
    if (made.contains(key)) value = made[key].get<double>();
  });
  if (made.contains("max_drops")) gates.max_drops = made["max_drops"].get<std::map<std::string, double>>();
  return gates;
}

template <class Enum>
Enum named_or(const json& made, const char* key, Enum otherwise) {
  if (!made.contains(key)) return otherwise;
  const std::optional<Enum> found = from_name<Enum>(made[key].get<std::string>());
  if (!found) throw json::other_error::create(501, "unknown value", &made);
  return *found;
}

std::string metric_from(const json& made) {
  if (!made.contains("metric")) return kAutoMetric;
  const std::string name = made["metric"].get<std::string>();
  const std::vector<MetricDescription> known = known_metrics();
  if (std::none_of(known.begin(), known.end(), [&](const auto& metric) { return metric.name == name; }))
    throw json::other_error::create(501, "unknown value", &made);
  return name;
}

Statement statement_from(const json& made) {
  Statement statement;
  const bool is_old = made.at("version") == kOldVersion;
  if (!is_old && made.at("version") != kVersion)
    throw json::other_error::create(501, "another version", &made);
  statement.content = made.at("content");
  if (!is_old) statement.source_sha256 = made.at("source");
  statement.recipe = recipe_from(made.at("recipe"));
  statement.ranges = made.value("ranges", std::string());
  if (made.contains("calibration")) statement.calibration = selection_from(made["calibration"]);
  if (made.contains("trial")) statement.trial = run_from(made["trial"]);
  if (made.contains("gate")) statement.gate = quantization::gate_from(made["gate"]);
  if (made.contains("releases"))
    statement.releases = made["releases"].get<std::map<std::string, std::string>>();
  return statement;
}

}  // namespace

json to_json(const StatedGate& gate) {
  json made = run_json(gate.run);
  made["gates"] = gates_json(gate.gates);
  if (gate.quality.task != Task::kAuto) made["task"] = name_of(gate.quality.task);
  if (gate.quality.metric != kAutoMetric) made["metric"] = gate.quality.metric;
  if (!gate.quality.tags.empty()) made["tags"] = gate.quality.tags;
  if (!gate.quality.label_output.empty()) made["label_output"] = gate.quality.label_output;
  if (!gate.quality.outputs.empty()) made["outputs"] = gate.quality.outputs;
  if (gate.quality.threshold) made["threshold"] = *gate.quality.threshold;
  if (gate.has_command) made["command"] = true;
  if (gate.edge_cases) made["edge_cases"] = true;
  if (json chosen = selection_json(gate.selection); !chosen.empty()) made["selection"] = std::move(chosen);
  if (gate.agreement) made["agreement"] = *gate.agreement;
  for (const StatedMetric& metric : gate.metrics)
    made["metrics"].push_back({{"name", metric.name},
                               {"reference", metric.reference},
                               {"candidate", metric.candidate},
                               {"drop", {metric.drop_low, metric.drop_high}}});
  return made;
}

StatedGate gate_from(const json& made) {
  StatedGate gate;
  gate.run = run_from(made);
  gate.gates = gates_from(made.at("gates"));
  gate.quality.task = named_or(made, "task", Task::kAuto);
  gate.quality.metric = metric_from(made);
  if (made.contains("tags")) gate.quality.tags = made["tags"].get<std::vector<std::string>>();
  gate.quality.label_output = made.value("label_output", std::string());
  if (made.contains("outputs")) gate.quality.outputs = made["outputs"].get<std::vector<std::string>>();
  if (made.contains("threshold")) gate.quality.threshold = made["threshold"].get<double>();
  gate.has_command = made.value("command", false);
  gate.edge_cases = made.value("edge_cases", false);
  if (made.contains("selection")) gate.selection = selection_from(made["selection"]);
  if (made.contains("agreement")) gate.agreement = made["agreement"].get<double>();
  if (made.contains("metrics")) {
    for (const json& metric : made["metrics"])
      gate.metrics.push_back({metric.at("name"), metric.at("reference"), metric.at("candidate"),
                              metric.at("drop").at(0), metric.at("drop").at(1)});
  }
  return gate;
}

std::string statement_text(const Statement& statement) {
  const auto digest = [](const std::string& known) {
    return known.empty() ? std::string(kDigits, '0') : known;  // a placeholder of the same size
  };
  json made = {{"version", kVersion},
               {"content", digest(statement.content)},
               {"source", digest(statement.source_sha256)},
               {"recipe", to_json(statement.recipe)}};
  if (!statement.ranges.empty()) made["ranges"] = statement.ranges;
  if (json chosen = selection_json(statement.calibration); !chosen.empty())
    made["calibration"] = std::move(chosen);
  if (!statement.releases.empty()) made["releases"] = statement.releases;
  if (statement.gate) {
    made["gate"] = to_json(*statement.gate);
    return json_text(made);
  }
  const std::size_t size = json_text(made).size() + kTrialRoom;
  if (statement.trial) made["trial"] = run_json(*statement.trial);
  std::string text = json_text(made);
  if (text.size() < size) text.resize(size, ' ');
  return text;
}

Statement parse_statement(std::string_view text, const std::string& where) {
  const json made = parse_json(text, kLimits, where);
  try {
    return statement_from(made);
  } catch (const json::exception&) {
    throw Error(ErrorCode::kBadInput, "is invalid, or was written by a newer version of Ounce", where);
  }
}

std::optional<Statement> read_statement(const Metadata& metadata, const std::filesystem::path& model) {
  const auto value = [&](std::string_view key) -> std::string_view {
    for (const auto& [name, text] : metadata) {
      if (name == key) return text;
    }
    return {};
  };
  const std::string_view text = value(Statement::kMetadataKey);
  if (text.empty()) return std::nullopt;
  Statement statement =
      parse_statement(text, fmt::format("{}: metadata '{}'", model.string(), Statement::kMetadataKey));
  statement.version = value("ounce.version");
  statement.source = value("ounce.source");
  statement.plan = value("ounce.plan");
  return statement;
}

std::optional<double> stated_decibels(double sqnr_db) {
  if (std::isinf(sqnr_db) && sqnr_db > 0) return std::nullopt;
  return std::isfinite(sqnr_db) ? std::clamp<double>(std::floor(sqnr_db), -kMostDecibels, kMostDecibels)
                                : -kMostDecibels;
}

StatedRun stated_run(const TrialResult& trial) {
  return {trial.runtime_version,         trial.samples, trial.is_generated, trial.data_digest, {},
          stated_decibels(trial.sqnr_db)};
}

Selection selection_of(const DataOptions& data) {
  return {data.first, data.samples, data.part, data.parts, data.batch};
}

DataOptions selected(DataOptions data, const Selection& selection) {
  data.first = selection.first;
  data.samples = selection.samples;
  data.part = selection.part;
  data.parts = selection.parts;
  data.batch = selection.batch;
  return data;
}

void restate(const std::filesystem::path& path, const Statement& statement) {
  formats::replace_metadata(path, Statement::kMetadataKey, statement_text(statement));
}

namespace {

// Rounds to six digits, so that the last bits of floating-point sums do not show.
double rounded(double value) { return std::isfinite(value) ? std::stod(fmt::format("{:.6g}", value)) : 0; }

}  // namespace

StatedGate stated_gate(const VerifyOptions& options, const VerifyResult& result) {
  StatedGate gate;
  gate.gates = options.gates;
  gate.quality = options;
  gate.quality.metric_command = {};
  gate.has_command = !options.metric_command.command.empty();
  gate.edge_cases = options.edge_cases;
  gate.selection = selection_of(options.data);
  gate.run = {result.runtime_version, result.samples,       result.is_generated,
              result.data_digest,     result.labels_digest, stated_decibels(result.worst_sqnr_db)};
  if (const auto agreement = evaluate::least_agreement(result.outputs)) gate.agreement = rounded(*agreement);
  for (const MetricResult& metric : result.metrics)
    gate.metrics.push_back({metric.name, rounded(metric.reference), rounded(metric.candidate),
                            rounded(metric.drop_low), rounded(metric.drop_high)});
  return gate;
}

}  // namespace ounce::quantization
