#include <nlohmann/json.hpp>

#include "report/advise_report.h"
#include "report/json.h"
#include "report/option_words.h"

namespace ounce::report {
namespace {

using Json = nlohmann::ordered_json;

Json metric_json(const MetricResult& metric) {
  return {{"name", metric.name},
          {"higher_is_better", metric.higher_is_better},
          {"unit", name_of(metric.unit)},
          {"reference", number(metric.reference)},
          {"candidate", number(metric.candidate)},
          {"drop", number(metric.drop)},
          {"drop_low", number(metric.drop_low)},
          {"drop_high", number(metric.drop_high)}};
}

Json counts_json(const std::vector<NamedCount>& counts, bool with_bytes) {
  Json json = Json::array();
  for (const NamedCount& count : counts) {
    Json entry = {{"op", count.name}, {"count", count.count}};
    if (with_bytes) entry["bytes"] = count.bytes;
    json.push_back(std::move(entry));
  }
  return json;
}

Json family_json(const FamilyFinding& family) {
  Json json;
  json["name"] = name_of(family.family);
  json["description"] = family.description;
  json["autoregressive"] = family.is_autoregressive;
  json["quantized"] = family.is_quantized;
  json["half"] = family.is_half;
  json["task"] = name_of(family.task);
  json["task_reason"] = family.task_reason;
  json["reasons"] = with_options(family.reasons);
  json["ops"] = counts_json(family.ops, false);
  json["weights"] = counts_json(family.weights, true);
  json["weight_bytes"] = family.weight_bytes;
  json["states"] = Json::array();
  for (const auto& [input, output] : family.states)
    json["states"].push_back({{"input", input}, {"output", output}});
  return json;
}

Json time_goes_json(const std::optional<Profile>& profile) {
  if (!profile) return nullptr;
  Json json = {
      {"seconds", profile->seconds}, {"integer_share", profile->integer_share}, {"ops", Json::array()}};
  for (const OpTime& op : profile->ops)
    json["ops"].push_back({{"op_type", op.op_type}, {"nodes", op.nodes}, {"seconds", op.seconds}});
  return json;
}

Json baseline_json(const Baseline& baseline) {
  Json json;
  json["measured"] = baseline.is_measured;
  if (!baseline.is_measured) {
    json["why_not"] = with_options(baseline.why_not);
    return json;
  }
  json["runtime_version"] = baseline.runtime_version;
  json["p50_seconds"] = baseline.latency.p50;
  json["p99_seconds"] = baseline.latency.p99;
  json["mean_seconds"] = baseline.latency.mean;
  json["load_seconds"] = baseline.load_seconds;
  json["cold_start_seconds"] = baseline.cold_start_seconds;
  json["peak_memory"] = baseline.peak_memory;
  json["load_memory"] = memory_json(baseline.load_memory);
  json["metrics"] = Json::array();
  for (const MetricResult& metric : baseline.metrics)
    json["metrics"].push_back({{"name", metric.name}, {"value", number(metric.reference)}});
  json["profile"] = time_goes_json(baseline.profile);
  return json;
}

Json method_json(const MethodFinding& method) {
  Json json;
  json["method"] = name_of(method.format);
  json["measured"] = method.is_measured;
  if (!method.is_measured) {
    json["why_not"] = with_options(method.why_not);
    json["out_of_time"] = method.is_out_of_time;
    return json;
  }
  json["bytes"] = method.bytes;
  json["ratio"] = method.ratio;
  const bool is_timed = method.speed_up.rounds >= SpeedUp::kLeastRounds;
  json["speed_up"] = is_timed ? speed_json(method.speed_up) : Json(nullptr);
  json["load_seconds"] = method.load_seconds;
  json["peak_memory"] = method.peak_memory;
  json["load_memory"] = memory_json(method.load_memory);
  json["sqnr_db"] = number(method.sqnr_db);
  json["top1_agreement"] = method.agreement ? Json(*method.agreement) : Json(nullptr);
  json["metric"] = method.metric ? metric_json(*method.metric) : Json(nullptr);
  json["samples"] = method.samples;
  json["acceptable"] = method.is_acceptable;
  json["uncertain"] = method.is_uncertain;
  json["samples_needed"] = method.samples_needed == 0 ? Json(nullptr) : Json(method.samples_needed);
  json["quality"] = with_options(method.quality);
  json["integer_nodes"] = method.integer_nodes;
  json["float_nodes"] = method.float_nodes;
  json["left_in_floats"] = with_options(method.left_in_floats);
  json["seconds"] = method.seconds;
  json["profile"] = time_goes_json(method.profile);
  return json;
}

Json row_json(const AdviseRow& row) {
  Json json;
  json["model"] = row.model.string();
  json["exit_code"] = row.exit_code;
  if (!row.error.empty()) {
    json["error"] = row.error;
    return json;
  }
  const AdviseResult& result = row.result;
  json["verdict"] = name_of(result.verdict);
  json["headline"] = with_options(result.headline);
  json["reasons"] = with_options(result.reasons);
  json["commands"] = Json::array();
  for (const RecommendedCommand& command : result.commands)
    json["commands"].push_back({{"line", command.line}, {"why", with_options(command.why)}});
  json["bytes"] = result.bytes;
  json["size_class"] = name_of(result.size);
  json["family"] = family_json(result.family);
  json["baseline"] = baseline_json(result.baseline);
  json["samples"] = result.samples;
  json["calibration_samples"] = result.calibration_samples;
  json["quality_samples"] = result.quality_samples;
  json["generated"] = result.is_generated;
  json["confidence"] = result.confidence;
  json["methods"] = Json::array();
  for (const MethodFinding& method : result.methods) json["methods"].push_back(method_json(method));
  json["risks"] = Json::array();
  for (const Risk& risk : result.risks)
    json["risks"].push_back({{"name", risk.name},
                             {"evidence", with_options(risk.evidence)},
                             {"advice", with_options(risk.advice)}});
  json["missing"] = with_options(result.missing);
  json["notes"] = with_options(result.notes);
  json["budget_seconds"] = result.budget;
  json["seconds"] = result.seconds;
  json["budget_needed_seconds"] = result.budget_needed == 0 ? Json(nullptr) : Json(result.budget_needed);
  return json;
}

}  // namespace

Json advise_json(const std::vector<AdviseRow>& rows) {
  Json json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = "advise";
  json["models"] = Json::array();
  for (const AdviseRow& row : rows) json["models"].push_back(row_json(row));
  return json;
}

}  // namespace ounce::report
