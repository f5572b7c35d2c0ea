#include "report/prove_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <algorithm>

#include "report/json.h"
#include "report/option_words.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Json = nlohmann::ordered_json;

std::string decibels(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f} dB or more", *value) : "equal to the original's";
}

std::string run_text(const StatedRun& run) {
  return fmt::format("outputs {} on {} {} (ONNX Runtime {}, data {})", decibels(run.sqnr_db), run.samples,
                     run.is_generated   ? "made-up inputs"
                     : run.samples == 1 ? "sample"
                                        : "samples",
                     run.runtime_version, run.data);
}

const char* word_of(ProofFinding finding) {
  switch (finding) {
    case ProofFinding::kHolds: return "holds";
    case ProofFinding::kFails: return "FAILS";
    case ProofFinding::kNotChecked: break;
  }
  return "not checked";
}

Json run_json(const StatedRun& run) {
  Json json;
  json["runtime_version"] = run.runtime_version;
  json["samples"] = run.samples;
  json["generated"] = run.is_generated;
  json["data"] = run.data;
  json["labels"] = run.labels;
  json["sqnr_db"] = run.sqnr_db ? Json(*run.sqnr_db) : Json(nullptr);
  return json;
}

Json statement_json(const Statement& statement) {
  Json json;
  json["version"] = statement.version;
  json["source_digest"] = statement.source;
  json["plan_digest"] = statement.plan;
  json["content_digest"] = statement.content;
  json["source_sha256"] = statement.source_sha256.empty() ? Json(nullptr) : Json(statement.source_sha256);
  json["format"] = name_of(statement.recipe.format);
  json["command"] = making_command(statement);
  json["verify_command"] = statement.gate ? Json(judging_command(statement)) : Json(nullptr);
  json["releases"] = statement.releases;
  json["trial"] = statement.trial ? run_json(*statement.trial) : Json(nullptr);
  json["gate"] = nullptr;
  if (!statement.gate) return json;
  json["gate"] = run_json(statement.gate->run);
  json["gate"]["agreement"] = statement.gate->agreement ? Json(*statement.gate->agreement) : Json(nullptr);
  json["gate"]["metrics"] = Json::array();
  for (const StatedMetric& metric : statement.gate->metrics)
    json["gate"]["metrics"].push_back({{"name", metric.name},
                                       {"reference", metric.reference},
                                       {"candidate", metric.candidate},
                                       {"drop_low", metric.drop_low},
                                       {"drop_high", metric.drop_high}});
  return json;
}

}  // namespace

std::string prove_text(const Proof& proof) {
  const Statement& statement = proof.statement;
  std::string text = plainly("{}: {}, made by Ounce {}\n", proof.model,
                             std::string(name_of(statement.recipe.format)), statement.version);
  text += plainly("  made by      {}\n", making_command(statement));
  if (statement.gate) {
    text += plainly("  judged by    {}\n", judging_command(statement));
    text += plainly("  result       {}\n", run_text(statement.gate->run));
    for (const StatedMetric& metric : statement.gate->metrics)
      text += plainly("               {} {:.4g}, the original {:.4g}; drop from {:.4g} to {:.4g} (95 %)\n",
                      metric.name, metric.candidate, metric.reference, metric.drop_low, metric.drop_high);
  } else if (statement.trial) {
    text += plainly("  result       {}\n", run_text(*statement.trial));
  }
  std::string releases;
  for (const auto& [machine, version] : statement.releases)
    releases += fmt::format("{}{} from {}", releases.empty() ? "" : ", ", machine, version);
  if (!releases.empty()) text += plainly("  runs in      ONNX Runtime on {}\n", releases);
  for (const ProofStep& step : proof.steps)
    text +=
        plainly("  {:<12} {}: {}\n", step.name, std::string(word_of(step.finding)), with_options(step.what));
  text += plainly("  {}: {}\n", std::string(name_of(proof.verdict())), with_options(proof.reason()));
  return text;
}

std::string prove_table(const std::vector<ProveRow>& rows) {
  Table table({{"model"}, {"format"}, {"statement"}});
  for (const ProveRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.filename().string(), "", "error"});
    } else {
      table.add({row.model.filename().string(), name_of(row.proof.statement.recipe.format),
                 name_of(row.proof.verdict())});
    }
  }
  return table.text();
}

Json prove_json(const std::vector<ProveRow>& rows) {
  Json json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = "prove";
  json["holds"] = true;
  ProofVerdict worst = ProofVerdict::kProved;
  for (const ProveRow& row : rows)
    worst = std::max(worst, row.error.empty() ? row.proof.verdict() : ProofVerdict::kUnproved);
  json["verdict"] = name_of(worst);
  json["models"] = Json::array();
  for (const ProveRow& row : rows) {
    Json entry;
    entry["model"] = row.model.string();
    entry["exit_code"] = row.exit_code;
    if (!row.error.empty() || !row.proof.holds()) json["holds"] = false;
    if (!row.error.empty()) {
      entry["error"] = row.error;
      json["models"].push_back(std::move(entry));
      continue;
    }
    entry["holds"] = row.proof.holds();
    entry["verdict"] = name_of(row.proof.verdict());
    entry["reason"] = with_options(row.proof.reason());
    entry["statement"] = statement_json(row.proof.statement);
    entry["steps"] = Json::array();
    for (const ProofStep& step : row.proof.steps)
      entry["steps"].push_back(
          {{"name", step.name}, {"finding", name_of(step.finding)}, {"what", with_options(step.what)}});
    json["models"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace ounce::report
