#include <fmt/format.h>

#include <set>

#include "report/html/charts.h"
#include "report/html/document.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace bench_section {

constexpr auto kNumber = DataTable::Kind::kNumber;
constexpr std::size_t kLastShown =
    99;  // percent: what is beyond belongs to the machine, and would flatten the rest
constexpr std::size_t kMostCharts = 20;  // each looks through all batches

std::string speed_text(const Json& speed) {
  if (!is_true(speed, "measurable"))
    return fmt::format("no measurable difference ({} … {})", figure_of(speed, "low", 3),
                       figure_of(speed, "high", 3));
  return fmt::format("{} × ({} … {})", figure_of(speed, "ratio", 3), figure_of(speed, "low", 3),
                     figure_of(speed, "high", 3));
}

const Json* batch_of(const Json& model, double size) {
  for (const Json& batch : list(model, "batches")) {
    if (figure(batch, "batch") == size) return &batch;
  }
  return nullptr;
}

// How many of the calls were done after how long.
Markup distribution(const Json& document, double size) {
  LineChart chart;
  chart.x = {"time of one call", "ms"};
  chart.y = {"calls done by then", "%"};
  chart.begins_at_zero = true;
  std::string medians;
  for (const Json& model : list(document, "models")) {
    const Json* batch = batch_of(model, size);
    if (batch == nullptr) continue;
    const std::vector<double> quantiles = figures(member(*batch, "latency"), "quantiles_ns");
    Series series{file_name(words(model, "model")), {}};
    for (std::size_t percent = 0; percent < quantiles.size() && percent <= kLastShown; ++percent) {
      Point point{1e-6 * quantiles[percent], static_cast<double>(percent), {}};
      if (percent == 50 || percent == 90 || percent == 99)
        point.says = fmt::format("{}: {} % of the calls took {} or less", series.name, percent,
                                 time_text(1e-9 * quantiles[percent]));
      series.points.push_back(std::move(point));
    }
    if (series.points.empty()) continue;
    medians += fmt::format("{}{} {}", medians.empty() ? "" : ", ", series.name,
                           time_of(member(*batch, "latency"), "p50_ns"));
    chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return {};
  chart.says = fmt::format("Distribution of the time of a call, batch {:.0f}; medians: {}", size, medians);
  return heading("How long a call takes") +
         element("p", {{"class", "quiet"}},
                 text(fmt::format("Batch {:.0f}. The further left a line climbs, the faster; marks are p50, "
                                  "p90 and p99. Medians: {}.",
                                  size, medians))) +
         draw(chart);
}

Markup speed_chart(const Json& document) {
  std::vector<Interval> intervals;
  bool is_base = true;
  for (const Json& model : list(document, "models")) {
    for (const Json& batch : list(model, "batches")) {
      const Json& speed = member(batch, "speed_up");
      if (is_base || !figure(speed, "ratio")) continue;
      intervals.push_back(
          {fmt::format("{}, batch {}", file_name(words(model, "model")), figure_of(batch, "batch", 9)),
           *figure(speed, "ratio"), figure(speed, "low").value_or(1), figure(speed, "high").value_or(1),
           speed_text(speed)});
    }
    is_base = false;
  }
  if (intervals.empty()) return {};
  return heading("Speed against the first model, with the interval that 95 % of draws give") +
         draw_intervals(intervals, fmt::format("Speed of {} models against the first; a line at 1 is as fast",
                                               intervals.size()));
}

Markup start_table(const Json& document) {
  DataTable table("Loading and memory", {{"model"},
                                         {"size", kNumber},
                                         {"load", kNumber},
                                         {"first run", kNumber},
                                         {"cold start", kNumber},
                                         {"peak memory", kNumber},
                                         {"while loading", kNumber},
                                         {"after loading", kNumber}});
  for (const Json& model : list(document, "models")) {
    const Json& memory = member(model, "load_memory");
    table.add({cell(words(model, "model")), cell(bytes_of(model, "bytes"), figure(model, "bytes")),
               cell(time_of(model, "load_ns"), figure(model, "load_ns")),
               cell(time_of(model, "first_run_ns"), figure(model, "first_run_ns")),
               cell(time_of(model, "cold_start_ns"), figure(model, "cold_start_ns")),
               cell(bytes_of(model, "peak_memory_bytes"), figure(model, "peak_memory_bytes")),
               cell(bytes_of(memory, "peak_bytes"), figure(memory, "peak_bytes")),
               cell(bytes_of(memory, "after_bytes"), figure(memory, "after_bytes"))});
  }
  return table.markup();
}

Markup run_table(const Json& document) {
  DataTable table("Runs", {{"model"},
                           {"batch", kNumber},
                           {"p50", kNumber},
                           {"p90", kNumber},
                           {"p99", kNumber},
                           {"least", kNumber},
                           {"mean", kNumber},
                           {"samples/s", kNumber},
                           {"speed (95 % sure)"}});
  bool is_base = true;
  for (const Json& model : list(document, "models")) {
    for (const Json& batch : list(model, "batches")) {
      const Json& latency = member(batch, "latency");
      const auto times = [&](const char* key) { return cell(time_of(latency, key), figure(latency, key)); };
      table.add({cell(words(model, "model")), cell(figure_of(batch, "batch", 9), figure(batch, "batch")),
                 times("p50_ns"), times("p90_ns"), times("p99_ns"), times("min_ns"), times("mean_ns"),
                 cell(fmt::format("{:.0f}", figure(batch, "samples_per_second").value_or(0)),
                      figure(batch, "samples_per_second")),
                 cell(is_base ? "1" : speed_text(member(batch, "speed_up")))});
    }
    is_base = false;
  }
  return table.markup();
}

std::vector<SummaryRow> summary_of(const Json& document) {
  std::vector<SummaryRow> rows;
  for (const Json& model : list(document, "models")) {
    const Json* batch = list(model, "batches").empty() ? nullptr : &list(model, "batches")[0];
    rows.push_back({file_name(words(model, "model")), "bench", bytes_of(model, "bytes"),
                    batch == nullptr
                        ? "–"
                        : fmt::format("p50 {}{}", time_of(member(*batch, "latency"), "p50_ns"),
                                      rows.empty() ? "" : ", " + speed_text(member(*batch, "speed_up"))),
                    "–", "measured", Verdict::kNeutral});
  }
  return rows;
}

}  // namespace bench_section

std::vector<Section> bench_sections(const Json& whole) {
  using namespace bench_section;
  const Json& document = first_result(whole);
  const Json& models = list(document, "models");
  Section section;
  section.title = fmt::format("bench: {} model{}", models.size(), models.size() == 1 ? "" : "s");
  section.summary = summary_of(document);
  section.headline = "measured";
  if (models.size() > 1 && !list(models[1], "batches").empty()) {
    const Json& speed = member(list(models[1], "batches")[0], "speed_up");
    section.headline = fmt::format("{} against {}: {}", file_name(words(models[1], "model")),
                                   file_name(words(models[0], "model")), speed_text(speed));
  } else if (!models.empty() && !list(models[0], "batches").empty()) {
    section.headline = fmt::format("{}: {} for a call (median)", file_name(words(models[0], "model")),
                                   time_of(member(list(models[0], "batches")[0], "latency"), "p50_ns"));
  }
  std::vector<Tile> all;
  if (models.size() > 1 && !list(models[0], "batches").empty() && !list(models[1], "batches").empty()) {
    const Json &before = models[0], &after = models[1];
    const std::string remark =
        fmt::format("{} → {}", file_name(words(before, "model")), file_name(words(after, "model")));
    all = {
        {"time of a call (p50)", time_of(member(list(before, "batches")[0], "latency"), "p50_ns"),
         time_of(member(list(after, "batches")[0], "latency"), "p50_ns"), remark},
        {"size", bytes_of(before, "bytes"), bytes_of(after, "bytes"), remark},
        {"peak memory", bytes_of(before, "peak_memory_bytes"), bytes_of(after, "peak_memory_bytes"), remark},
        {"cold start", time_of(before, "cold_start_ns"), time_of(after, "cold_start_ns"), remark}};
  }
  section.body = all.empty() ? Markup() : tiles(all);
  section.body += paragraph(fmt::format(
      "ONNX Runtime {}{}{}, {} threads, {} rounds, {} inputs.", words(document, "runtime_version"),
      words(document, "cpu").empty() ? "" : " on ", words(document, "cpu"),
      figure(document, "threads") == 0 ? "all" : figure_of(document, "threads", 6),
      figure_of(document, "rounds", 9), is_true(document, "generated") ? "random" : "real"));
  std::set<double> sizes;
  for (const Json& model : models) {
    for (const Json& batch : list(model, "batches")) sizes.insert(figure(batch, "batch").value_or(1));
  }
  std::size_t charts = 0;
  for (const double size : sizes) {
    if (++charts > kMostCharts) break;
    section.body += distribution(document, size);
  }
  if (sizes.size() > kMostCharts)
    section.body += paragraph(fmt::format(
        "Of {} sizes of batches the first {} are drawn; the tables have all.", sizes.size(), kMostCharts));
  section.body += speed_chart(document) + run_table(document) + start_table(document) +
                  note_list(sentences(document, "notes"));
  return {section};
}

}  // namespace ounce::report::html
