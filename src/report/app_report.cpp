#include "report/reports.h"

#include <fmt/format.h>

#include "report/table.h"

namespace ounce::report {
namespace {

const char* state_of(const app::Unpacked& unpacked) {
  if (!unpacked.is_new) return "was there";
  return unpacked.was_damaged ? "made again: the file in the cache was damaged" : "made now";
}

}  // namespace

std::string unpack_text(const UnpackRow& row) {
  const app::Unpacked& unpacked = row.result;
  if (unpacked.file.empty())
    return safe_format("{}: stays as it is: {}\n", row.model.string(), unpacked.why_not);
  return safe_format("{}: {} → {}, for ONNX Runtime {} on {}, {}\n{}\n", row.model.string(),
                     bytes_text(unpacked.model_bytes), bytes_text(unpacked.bytes), unpacked.runtime_version,
                     unpacked.cpu, state_of(unpacked), unpacked.file.string());
}

std::string unpack_table(const std::vector<UnpackRow>& rows) {
  Table table({{"model"}, {"packed", Table::Align::kRight}, {"unpacked", Table::Align::kRight}, {"state"}});
  std::uint64_t packed = 0, unpacked = 0;
  for (const UnpackRow& row : rows) {
    const bool is_there = row.error.empty() && !row.result.file.empty();
    const char* const state = !row.error.empty()  ? "error"
                              : !is_there         ? "as it is"
                              : row.result.is_new ? "new"
                                                  : "was there";
    table.add({row.model.filename().string(), bytes_text(row.result.model_bytes),
               is_there ? bytes_text(row.result.bytes) : "", state});
    packed += row.result.model_bytes;
    unpacked += is_there ? row.result.bytes : 0;
  }
  table.add_rule();
  table.add({"total", bytes_text(packed), bytes_text(unpacked), ""});
  return table.text();
}

namespace {

constexpr double kMedian = 0.5, kTail = 0.99;

std::string shadow_decibels(double sqnr_db) {
  return sqnr_db == std::numeric_limits<double>::infinity() ? "exact" : decibel_text(sqnr_db);
}

}  // namespace

std::string shadow_text(const app::ShadowStatistics& statistics, const app::ShadowVerdict& verdict) {
  std::string text = safe_format("candidate {} beside {}, {} devices\n", statistics.candidate,
                                 statistics.primary, statistics.devices);
  text += fmt::format(
      "{} calls, {} compared, {} dropped; the candidate failed {} times ({} errors, {} crashes, {} timeouts, "
      "{} not finite)\n",
      statistics.calls, statistics.compared, statistics.dropped, statistics.failures(), statistics.errors,
      statistics.crashes, statistics.timeouts, statistics.not_finite);
  if (statistics.canary_calls != 0 || !statistics.canary_stopped.empty()) {
    text += safe_format("canary: {} calls, {} fallbacks, share {}{}\n", statistics.canary_calls,
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
  for (const std::string& reason : verdict.reasons) text += safe_format("{}\n", reason);
  return text + (verdict.passed ? "passed\n" : verdict.is_known ? "failed\n" : "not known yet\n");
}

}  // namespace ounce::report
