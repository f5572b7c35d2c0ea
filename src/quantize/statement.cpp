#include "quantize/statement.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "evaluate/compare/worst_output.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/plan.h"
#include "io/output_file.h"
#include "quant/layout.h"
#include "quantize/recipe_json.h"

namespace ounce::quantization {
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

std::string metric_from(const json& made) {
  if (!made.contains("metric")) return kAutoMetric;
  const std::string name = made["metric"].get<std::string>();
  const std::vector<MetricDescription> known = known_metrics();
  if (std::none_of(known.begin(), known.end(), [&](const auto& metric) { return metric.name == name; }))
    throw json::other_error::create(501, "nobody knows it", &made);
  return name;
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
  if (made.contains("gate")) statement.gate = quantization::gate_from(made["gate"]);
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

namespace {

// Six digits, so that the last bits of a float do not show.
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

namespace {

// A stretch of the model as it would stand in one file, which has many pieces of others in it.
constexpr std::size_t kStretch = std::size_t{4} << 20;

std::vector<std::vector<onnx::Bytes>> stretches_of(const onnx::Rope& rope) {
  std::vector<std::vector<onnx::Bytes>> stretches;
  std::size_t room = 0;
  for (const onnx::Rope::Piece& piece : rope.pieces()) {
    for (onnx::Bytes bytes = onnx::Rope::bytes_of(piece);
         !bytes.empty();) {  // nothing that was read is computed
      if (room == 0) {
        stretches.emplace_back();
        room = kStretch;
      }
      const std::size_t size = std::min(room, bytes.size());
      stretches.back().push_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
      room -= size;
    }
  }
  return stretches;
}

// Calls `digest` with the number of each stretch and the pieces of the model that it consists of, on all
// threads. `begin` is told how many there are.
template <class Begin, class DigestStretch>
void each_stretch(onnx::Model model, ThreadPool& pool, const Begin& begin, const DigestStretch& digest) {
  model.proto.edit().metadata.clear();
  const onnx::Serialized serialized = onnx::serialize(model, onnx::Placement::kInline, {});
  const std::vector<std::vector<onnx::Bytes>> stretches = stretches_of(serialized.model);
  begin(stretches.size());
  pool.for_each(stretches.size(), [&](std::size_t i) {
    digest(i, stretches[i]);
    for (const onnx::Bytes& bytes : stretches[i]) model.release(bytes);
  });
}

}  // namespace

std::string content_digest(onnx::Model model, ThreadPool& pool) {
  std::vector<Sha256::Digest> digests;
  each_stretch(
      std::move(model), pool, [&](std::size_t count) { digests.resize(count); },
      [&](std::size_t i, const std::vector<onnx::Bytes>& pieces) {
        Sha256 digest;
        for (const onnx::Bytes& bytes : pieces) digest.add(bytes);
        digests[i] = digest.digest();
      });
  return sha256_of({reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(Sha256::Digest)});
}

std::string weak_content_digest(onnx::Model model, ThreadPool& pool) {
  std::vector<Digest> digests;
  each_stretch(
      std::move(model), pool, [&](std::size_t count) { digests.resize(count); },
      [&](std::size_t i, const std::vector<onnx::Bytes>& pieces) {
        std::string text;
        text.reserve(kStretch);
        for (const onnx::Bytes& bytes : pieces) text.append(bytes);
        digests[i] = digest_of(text);
      });
  return hex(digest_of(digests));
}

namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;  // of what lies between large tensors

// A stretch of a file: to be digested in pieces, or a tensor whose digest is known.
struct Stretch {
  onnx::Bytes bytes;
  std::size_t piece = kPiece;
  std::optional<Digest> known;
};

// The large tensors that stand inside `file`, in the order of their places; of those that overlap, the first.
std::vector<Stretch> large_tensors(const io::MappedFile& file, const plan::Plan& plan) {
  std::vector<Stretch> tensors;
  for (const plan::Decision& decision : plan.decisions) {
    const auto* borrowed = std::get_if<onnx::Borrowed>(&decision.weight.tensor->data);
    if (borrowed == nullptr || borrowed->bytes.size() < plan::kDigestFrom || !file.contains(borrowed->bytes))
      continue;
    const std::size_t tile =
        quant::kTile * quant::width_of(plan::float_type_of(decision.weight.tensor->type));
    tensors.push_back({borrowed->bytes, tile, decision.digest});
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Stretch& a, const Stretch& b) { return a.bytes.data() < b.bytes.data(); });
  return tensors;
}

void add_stretches(const io::MappedFile& file, const plan::Plan& plan, std::vector<Stretch>& stretches) {
  const onnx::Bytes all = file.bytes();
  std::size_t at = 0;
  for (const Stretch& tensor : large_tensors(file, plan)) {
    const auto first = static_cast<std::size_t>(tensor.bytes.data() - all.data());
    if (first < at) continue;
    stretches.push_back({all.substr(at, first - at), kPiece, std::nullopt});
    stretches.push_back(tensor);
    at = first + tensor.bytes.size();
  }
  stretches.push_back({all.substr(at), kPiece, std::nullopt});
}

}  // namespace

std::string source_digest(const onnx::Model& source, const plan::Plan& plan, ThreadPool& pool) {
  std::vector<Stretch> stretches;
  add_stretches(source.file, plan, stretches);
  for (const auto& [location, file] : source.external_files) add_stretches(file, plan, stretches);

  std::vector<onnx::Bytes> pieces;
  for (const Stretch& stretch : stretches) {
    if (stretch.known) continue;
    for (std::size_t at = 0; at < stretch.bytes.size(); at += stretch.piece) {
      pieces.push_back(stretch.bytes.substr(at, stretch.piece));
    }
  }
  std::vector<Digest> digests(pieces.size());
  pool.for_each(pieces.size(), [&](std::size_t i) {
    digests[i] = digest_of(pieces[i]);
    source.release(pieces[i]);
  });

  std::vector<Digest> parts;
  auto next = digests.begin();
  for (const Stretch& stretch : stretches) {
    const auto count =
        static_cast<std::ptrdiff_t>((stretch.bytes.size() + stretch.piece - 1) / stretch.piece);
    if (stretch.known) {
      parts.push_back(*stretch.known);
    } else {
      parts.push_back(digest_of(std::vector<Digest>(next, next + count)));
      next += count;
    }
  }
  return hex(digest_of(parts));
}

std::string source_sha256(const onnx::Model& source, ThreadPool& pool) {
  std::vector<onnx::Bytes> files = {source.file.bytes()};
  for (const auto& [location, file] : source.external_files) files.push_back(file.bytes());
  std::vector<std::string> digests(files.size());
  pool.for_each(files.size(), [&](std::size_t i) {
    Sha256 digest;
    for (std::size_t at = 0; at < files[i].size(); at += kPiece) {
      throw_if_cancelled();
      const onnx::Bytes piece = files[i].substr(at, kPiece);
      digest.add(piece);
      source.release(piece);
    }
    digests[i] = digest.hex();
  });
  if (digests.size() == 1) return digests.front();
  std::string lines;
  for (const std::string& digest : digests) lines += digest + '\n';
  return sha256_of(lines);
}

}  // namespace ounce::quantization
