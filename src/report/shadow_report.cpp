#include "report/shadow_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/table.h"

namespace ounce::report {
namespace {

constexpr double kMedian = 0.5, kTail = 0.99;

std::string shadow_decibels(double sqnr_db) {
  return sqnr_db == std::numeric_limits<double>::infinity() ? "exact" : decibel_text(sqnr_db);
}

nlohmann::ordered_json latency_json(const app::Latencies& latencies) {
  return {
      {"count", latencies.count()}, {"p50", latencies.quantile(kMedian)}, {"p99", latencies.quantile(kTail)}};
}

}  // namespace

std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict) {
  std::string text = plainly("candidate {} beside {}, {} devices\n", statistics.candidate, statistics.primary,
                             statistics.devices);
  text += fmt::format(
      "{} calls, {} compared, {} dropped; the candidate failed {} times ({} errors, {} crashes, {} timeouts, "
      "{} not finite)\n",
      statistics.calls, statistics.compared, statistics.dropped, statistics.failures(), statistics.errors,
      statistics.crashes, statistics.timeouts, statistics.not_finite);
  if (statistics.canary_calls != 0 || !statistics.canary_stopped.empty()) {
    text += plainly("canary: {} calls, {} fallbacks, share {}{}\n", statistics.canary_calls,
                    statistics.canary_fallbacks, percent_text(statistics.canary_share),
                    statistics.canary_stopped.empty() ? "" : "; stopped: " + statistics.canary_stopped);
  }
  Table table({{"output"},
               {"SQNR", Table::Align::kRight},
               {"largest", Table::Align::kRight},
               {"answers", Table::Align::kRight},
               {"flips", Table::Align::kRight}});
  for (const auto& [name, output] : statistics.outputs)
    table.add({name, shadow_decibels(output.sqnr_db()), fmt::format("{:.3g}", output.largest),
               std::to_string(output.answers), std::to_string(output.flips)});
  if (!statistics.outputs.empty()) text += table.text();
  Table times({{"latency"}, {"p50", Table::Align::kRight}, {"p99", Table::Align::kRight}});
  const auto add = [&](const char* who, const app::Latencies& latencies) {
    times.add({who, time_text(latencies.quantile(kMedian)), time_text(latencies.quantile(kTail))});
  };
  add("primary", statistics.primary_latency);
  add("candidate", statistics.candidate_latency);
  text += times.text();
  for (const std::string& reason : verdict.reasons) text += plainly("{}\n", reason);
  return text + (verdict.passed ? "passed\n" : verdict.is_known ? "failed\n" : "not known yet\n");
}

nlohmann::ordered_json shadow_json(const app::ShadowStatistics& statistics,
                                   const app::ShadowVerdict& verdict) {
  nlohmann::ordered_json json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = "shadow report";
  json["passed"] = verdict.passed;
  json["known"] = verdict.is_known;
  json["reasons"] = verdict.reasons;
  json["primary"] = statistics.primary;
  json["candidate"] = statistics.candidate;
  json["devices"] = statistics.devices;
  json["calls"] = statistics.calls;
  json["compared"] = statistics.compared;
  json["dropped"] = statistics.dropped;
  json["failures"] = {{"errors", statistics.errors},
                      {"crashes", statistics.crashes},
                      {"timeouts", statistics.timeouts},
                      {"not_finite", statistics.not_finite}};
  json["canary"] = {{"calls", statistics.canary_calls},
                    {"fallbacks", statistics.canary_fallbacks},
                    {"share", statistics.canary_share},
                    {"stopped", statistics.canary_stopped}};
  json["agreement"] = statistics.agreement();
  json["sqnr_db"] = number(statistics.sqnr_db());
  json["outputs"] = nlohmann::ordered_json::array();
  for (const auto& [name, output] : statistics.outputs)
    json["outputs"].push_back({{"name", name},
                               {"values", output.values},
                               {"sqnr_db", number(output.sqnr_db())},
                               {"largest", output.largest},
                               {"answers", output.answers},
                               {"flips", output.flips}});
  json["primary_latency"] = latency_json(statistics.primary_latency);
  json["candidate_latency"] = latency_json(statistics.candidate_latency);
  return json;
}

}  // namespace ounce::report
