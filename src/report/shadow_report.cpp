#include "report/shadow_report.h"

#include <fmt/format.h>

#include "report/table.h"

namespace ounce::report {
namespace {

constexpr double kMedian = 0.5, kTail = 0.99;

std::string shadow_decibels(double sqnr_db) {
  return sqnr_db == std::numeric_limits<double>::infinity() ? "exact" : decibel_text(sqnr_db);
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

}  // namespace ounce::report
