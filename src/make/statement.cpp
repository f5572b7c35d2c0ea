#include "make/statement.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "io/output_file.h"
#include "make/recipe_json.h"
#include "onnx/reader.h"
#include "onnx/top_fields.h"

namespace ounce::make {
namespace {

using nlohmann::json;

constexpr int kVersion = 2, kOldVersion = 1;
constexpr std::size_t kTrialRoom = 176;  // more than a trial has ever to say
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
      throw json::other_error::create(501, "is no whole number", &made);
    const auto decibels = made["sqnr_db"].get<std::int64_t>();
    run.sqnr_db = static_cast<double>(std::clamp<std::int64_t>(decibels, -kMostDecibels, kMostDecibels));
  }
  return run;
}

// Each optional gate with its name, for writing and for reading.
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
  if (!found) throw json::other_error::create(501, "nobody knows it", &made);
  return *found;
}

std::string dumped(const json& made) { return made.dump(-1, ' ', false, json::error_handler_t::replace); }

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
  if (made.contains("gate")) statement.gate = make::gate_from(made["gate"]);
  if (made.contains("releases"))
    statement.releases = made["releases"].get<std::map<std::string, std::string>>();
  return statement;
}

std::string_view metadata_of(const onnx::Model& model, std::string_view key) {
  for (const auto& entry : model.proto->metadata) {
    if (entry->key == key) return entry->value;
  }
  return {};
}

}  // namespace

json to_json(const StatedGate& gate) {
  json made = run_json(gate.run);
  made["gates"] = gates_json(gate.gates);
  if (gate.task != Task::kAuto) made["task"] = name_of(gate.task);
  if (gate.metric != Metric::kAuto) made["metric"] = name_of(gate.metric);
  if (!gate.tags.empty()) made["tags"] = gate.tags;
  if (!gate.label_output.empty()) made["label_output"] = gate.label_output;
  if (!gate.outputs.empty()) made["outputs"] = gate.outputs;
  if (gate.threshold) made["threshold"] = *gate.threshold;
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
  gate.task = named_or(made, "task", Task::kAuto);
  gate.metric = named_or(made, "metric", Metric::kAuto);
  if (made.contains("tags")) gate.tags = made["tags"].get<std::vector<std::string>>();
  gate.label_output = made.value("label_output", std::string());
  if (made.contains("outputs")) gate.outputs = made["outputs"].get<std::vector<std::string>>();
  if (made.contains("threshold")) gate.threshold = made["threshold"].get<double>();
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
    return known.empty() ? std::string(kDigits, '0') : known;  // the same size before it is known
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
    return dumped(made);
  }
  const std::size_t size = dumped(made).size() + kTrialRoom;
  if (statement.trial) made["trial"] = run_json(*statement.trial);
  std::string text = dumped(made);
  if (text.size() < size) text.resize(size, ' ');
  return text;
}

Statement parse_statement(std::string_view text, const std::string& where) {
  const json made = parse_json(text, kLimits, where);
  try {
    return statement_from(made);
  } catch (const json::exception&) {
    throw Error(ErrorCode::kBadInput, "says nothing that makes sense, or is of a newer Ounce", where);
  }
}

std::optional<Statement> read_statement(const onnx::Model& model) {
  const std::string_view text = metadata_of(model, Statement::kMetadataKey);
  if (text.empty()) return std::nullopt;
  Statement statement = parse_statement(
      text, fmt::format("{}: metadata '{}'", model.file.path().string(), Statement::kMetadataKey));
  statement.version = metadata_of(model, "ounce.version");
  statement.source = metadata_of(model, "ounce.source");
  statement.plan = metadata_of(model, "ounce.plan");
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
  const io::MappedFile file = io::MappedFile::open(path);
  const std::string field = onnx::metadata_field(Statement::kMetadataKey, statement_text(statement));
  const std::vector<onnx::Bytes> kept = onnx::fields_without_entry(file.bytes(), Statement::kMetadataKey);
  std::uint64_t size = field.size();
  for (const onnx::Bytes& bytes : kept) size += bytes.size();
  io::OutputFile output(path, size);
  std::uint64_t at = 0;
  for (const onnx::Bytes& bytes : kept) {
    output.write(at, bytes);
    at += bytes.size();
  }
  output.write(at, field);
  output.commit();
}

}  // namespace ounce::make
