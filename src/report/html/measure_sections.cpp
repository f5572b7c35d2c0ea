// Sections of verify and bench.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "report/html/charts.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace verify_section {

constexpr std::size_t kMatrixClasses = 12, kMostPng = 400'000, kMostCards = 24;

bool is_judged(const Json& output) { return is_true(output, "judged"); }

// True if all judged outputs are bit-identical.
bool is_identical(const Json& candidate) {
  const Json& outputs = list(candidate, "outputs");
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Json& output) { return !is_judged(output) || is_true(output, "exact"); });
}

// Returns the judged output with the lowest SQNR; null if there is none.
const Json* worst_output(const Json& candidate) {
  const Json* worst = nullptr;
  for (const Json& output : list(candidate, "outputs")) {
    if (!is_judged(output) || !figure(output, "sqnr_db")) continue;
    if (worst == nullptr || *figure(output, "sqnr_db") < *figure(*worst, "sqnr_db")) worst = &output;
  }
  return worst;
}

std::vector<Tile> tiles_of(const Json& candidate) {
  std::vector<Tile> all;
  if (const Json& metrics = list(candidate, "metrics"); !metrics.empty())
    all.push_back({words(metrics[0], "name"), figure_of(metrics[0], "reference"),
                   figure_of(metrics[0], "candidate"),
                   fmt::format("drop {} (95 %: {} … {})", figure_of(metrics[0], "drop", 3),
                               figure_of(metrics[0], "drop_low", 3), figure_of(metrics[0], "drop_high", 3))});
  if (const Json* worst = worst_output(candidate); worst != nullptr) {
    all.push_back(
        {"output SQNR", "", decibels_of(*worst, "sqnr_db", "exact"), "of " + words(*worst, "name")});
  } else if (is_identical(candidate)) {
    all.push_back({"output SQNR", "", "exact", "all values are equal"});
  }
  for (const Json& output : list(candidate, "outputs")) {
    if (!is_judged(output) || !figure(output, "top1_agreement")) continue;
    all.push_back({is_true(output, "labels") ? "equal labels" : "top-1 agreement", "",
                   share_of(output, "top1_agreement"), "of " + words(output, "name")});
    break;
  }
  if (figure(candidate, "max_abs_diff"))
    all.push_back({"largest difference", "", figure_of(candidate, "max_abs_diff"), "of any value"});
  all.push_back({"compared on", "", figure_of(candidate, "samples", 9),
                 is_true(candidate, "generated") ? "random inputs" : "samples"});
  return all;
}

std::string output_name(const Json& output) {
  return words(output, "name") + (is_true(output, "state")    ? " (state)"
                                  : !is_judged(output)        ? " (not judged)"
                                  : is_true(output, "labels") ? " (labels)"
                                                              : "");
}

Markup output_table(const Json& candidate) {
  DataTable table("Outputs",
                  {text_column("output", output_name), figure_column("values", "values", 12),
                   decibel_column("SQNR", "sqnr_db", "exact"), figure_column("max |d|", "max_abs_diff"),
                   figure_column("mean |d|", "mean_abs_diff"), figure_column("cosine", "cosine", 7),
                   share_column("same top-1", "top1_agreement"), share_column("same top-5", "top5_agreement"),
                   figure_column("new NaN/Inf", "newly_not_finite", 9)});
  for (const Json& output : list(candidate, "outputs")) {
    table.add_entry(output);
    for (const Json& slice : list(output, "slices"))
      table.add({cell("part " + words(slice, "name")),
                 cell(figure_of(slice, "values", 12), figure(slice, "values")),
                 cell(decibels_of(slice, "sqnr_db", "exact"), figure(slice, "sqnr_db")), cell("–"), cell("–"),
                 cell("–"), cell("–"), cell("–"), cell("–")});
  }
  return table.markup();
}

std::string interval_text(const Json& metric) {
  if (!figure(metric, "drop_low")) return "–";
  return fmt::format("{} … {}", figure_of(metric, "drop_low", 3), figure_of(metric, "drop_high", 3));
}

Markup metric_table(const Json& candidate) {
  return data_table("Metrics", list(candidate, "metrics"),
                    {text_column("metric", "name"), figure_column("original", "reference"),
                     figure_column("candidate", "candidate"), figure_column("drop", "drop", 3),
                     text_column("95 % CI of the drop", interval_text)});
}

Markup edge_table(const Json& candidate) {
  const Json& cases = list(candidate, "edge_cases");
  const auto has_failed = [](const Json& edge) {
    return !is_true(edge, "left_out") && !is_true(edge, "passed");
  };
  const auto result = [&](const Json& edge) {
    return Cell{is_true(edge, "left_out") ? badge(Verdict::kNeutral, "skipped")
                : has_failed(edge)        ? badge(Verdict::kBad, "failed")
                                          : badge(Verdict::kGood, "passed")};
  };
  const Markup table =
      data_table("Edge cases", cases,
                 {text_column("case", "name"), {"result", result}, text_column("finding", "finding")});
  const auto failed = std::count_if(cases.begin(), cases.end(), has_failed);
  return failed != 0 ? heading("Edge cases") + table
                     : details(fmt::format("Edge cases: {} tried, {} failed", cases.size(), failed), table);
}

// "original: class 3, candidate: class 5"
std::string answer_sentence(const Json& worst) {
  const Json *ours = nullptr, *theirs = nullptr;
  for (const Json& answer : list(worst, "answers")) {
    const auto reference = figure(answer, "reference"), candidate = figure(answer, "candidate");
    if (reference && (ours == nullptr || *reference > *figure(*ours, "reference"))) ours = &answer;
    if (candidate && (theirs == nullptr || *candidate > *figure(*theirs, "candidate"))) theirs = &answer;
  }
  if (ours == nullptr || theirs == nullptr) return {};
  const std::string label =
      figure(worst, "label") ? fmt::format(" (label: {})", figure_of(worst, "label", 9)) : "";
  if (ours == theirs) return fmt::format("both predict class {}{}", figure_of(*ours, "class", 9), label);
  return fmt::format("original: class {}, candidate: class {}{}", figure_of(*ours, "class", 9),
                     figure_of(*theirs, "class", 9), label);
}

Markup picture_of_sample(const Json& worst) {
  const Json& picture = member(worst, "picture");
  const std::string says = "input " + words(picture, "input");
  if (const std::string png = words(picture, "png"); !png.empty() && png.size() < kMostPng && is_base64(png))
    return lone_element("img",
                        {{"src", "data:image/png;base64," + png}, {"alt", plain(says)}, {"class", "sample"}});
  return draw_waveform(figures(picture, "lowest"), figures(picture, "highest"), says);
}

Markup worst_cards(const Json& candidate) {
  const auto class_text = [](const Json& answer) { return cell(figure_of(answer, "class", 9)); };
  Markup cards;
  std::size_t shown = 0;
  for (const Json& worst : list(candidate, "worst")) {
    if (shown++ == kMostCards) break;
    const std::string sentence = answer_sentence(worst);
    Markup caption = element("b", text(words(worst, "sample"))) + Markup("<br>") +
                     text(figure(worst, "answers_changed").value_or(0) != 0
                              ? fmt::format("{}: {} labels changed", words(worst, "output"),
                                            figure_of(worst, "answers_changed", 9))
                              : fmt::format("{} differs by up to {}", words(worst, "output"),
                                            figure_of(worst, "max_abs_diff")));
    if (!sentence.empty()) caption += Markup("<br>") + text(sentence);
    cards += element("figure", {{"class", "card"}},
                     picture_of_sample(worst) + element("figcaption", caption) +
                         data_table("Scores", list(worst, "answers"),
                                    {{"class", class_text},
                                     figure_column("original", "reference"),
                                     figure_column("candidate", "candidate")}));
  }
  if (cards.is_empty()) return {};
  return heading("Samples with the largest differences") + element("div", {{"class", "cards"}}, cards);
}

// Shows changed predictions as a matrix for few classes, as a list for many.
Markup changed_answers(const Json& output) {
  std::set<double> classes;
  std::map<std::pair<double, double>, double> counts;
  double most = 0;
  for (const Json& changed : list(output, "changed_answers")) {
    const auto from = figure(changed, "from"), to = figure(changed, "to"), count = figure(changed, "count");
    if (!from || !to || !count) continue;
    classes.insert({*from, *to});
    counts[{*from, *to}] = *count;
    most = std::max(most, *count);
  }
  if (counts.empty()) return {};
  const std::string title = fmt::format("Changed predictions of {}", words(output, "name"));
  Markup table;
  if (classes.size() <= kMatrixClasses) {
    std::vector<Column> columns = {{"original ↓ candidate →"}};
    for (const double to : classes) columns.push_back({fmt::format("{:.0f}", to), {}, /*is_number=*/true});
    DataTable matrix(title, columns);
    for (const double from : classes) {
      std::vector<Cell> cells = {cell(fmt::format("{:.0f}", from))};
      for (const double to : classes) {
        const auto found = counts.find({from, to});
        cells.push_back(found == counts.end()
                            ? cell(from == to ? "·" : "")
                            : Cell{element("b", text(fmt::format("{:.0f}", found->second))), found->second});
      }
      matrix.add(cells);
    }
    table = matrix.markup();
  } else {
    const auto class_column = [](const char* title_of, const char* key) {
      return Column{title_of, [key](const Json& changed) { return cell(figure_of(changed, key, 9)); }};
    };
    const auto bar = [&](const Json& changed) {
      return Cell{draw_bar(figure(changed, "count").value_or(0) / most, "fill")};
    };
    table = data_table(title, list(output, "changed_answers"),
                       {class_column("original", "from"),
                        class_column("candidate", "to"),
                        figure_column("count", "count", 9),
                        {"share", bar}});
  }
  return heading("Changed predictions") + table;
}

// The verdict without its first word: the badge before it says "passed" or "failed".
std::string headline_of(const Json& candidate) {
  const std::string verdict = words(candidate, "verdict");
  for (const std::string_view first : {"passed: ", "failed: "}) {
    if (verdict.starts_with(first)) return verdict.substr(first.size());
  }
  return verdict;
}

Section section_of(const Json& candidate) {
  Section section;
  const std::string name = file_name(candidate, "candidate");
  const bool has_passed = is_true(candidate, "passed");
  section.title = fmt::format("verify: {} compared with {}", name, file_name(candidate, "reference"));
  section.verdict = has_passed ? Verdict::kGood : Verdict::kBad;
  section.headline = headline_of(candidate);
  section.body = tiles(tiles_of(candidate));
  if (const std::string certainty = words(candidate, "certainty"); !certainty.empty())
    section.body += paragraph((is_true(candidate, "certain") ? "Certain: " : "Uncertain: ") + certainty);
  if (is_true(candidate, "generated"))
    section.body +=
        paragraph("The inputs were random, so they show how well the models agree, not their accuracy.");
  section.body += note_list(sentences(candidate, "failures")) + metric_table(candidate) +
                  output_table(candidate) + worst_cards(candidate);
  for (const Json& output : list(candidate, "outputs")) section.body += changed_answers(output);
  section.body +=
      edge_table(candidate) + cpu_table(list(candidate, "cpus")) + note_list(sentences(candidate, "notes"));
  const Json* worst = worst_output(candidate);
  std::string quality = worst != nullptr          ? decibels_of(*worst, "sqnr_db", "exact")
                        : is_identical(candidate) ? "exact"
                                                  : "–";
  if (const Json& metrics = list(candidate, "metrics"); !metrics.empty())
    quality += fmt::format(", {} {}", words(metrics[0], "name"), figure_of(metrics[0], "candidate"));
  section.summary = {{name, "verify", "–", "–", quality, has_passed ? "passed" : "failed", section.verdict}};
  return section;
}

}  // namespace verify_section

std::vector<Section> verify_sections(const Json& document) {
  return section_each("verify", document, verify_section::section_of);
}

namespace bench_section {

// Last percentile on the chart. Slower calls are outliers of the machine, and would compress the curve.
constexpr std::size_t kLastShown = 99;
constexpr std::size_t kMostCharts = 20;  // each chart scans all batches

std::string speed_text(const Json& batch) {
  const bool is_measurable = is_true(batch, "speed_up.measurable");
  return fmt::format("{} ({}–{})",
                     is_measurable ? figure_of(batch, "speed_up.ratio", 3) + "×" : "no measurable difference",
                     figure_of(batch, "speed_up.low", 3), figure_of(batch, "speed_up.high", 3));
}

// Returns the batch of this size, or the first if no size is given.
const Json& batch_of(const Json& model, std::optional<double> size = {}) {
  static const Json kNothing;
  for (const Json& batch : list(model, "batches")) {
    if (!size || figure(batch, "batch") == size) return batch;
  }
  return kNothing;
}

bool has_batch(const Json& model) { return !list(model, "batches").empty(); }

// The cumulative distribution of latencies.
Markup distribution(const Json& document, double size) {
  LineChart chart;
  chart.x = {"latency", "ms"};
  chart.y = {"share of calls", "%"};
  chart.begins_at_zero = true;
  std::string medians;
  for (const Json& model : list(document, "models")) {
    const Json& batch = batch_of(model, size);
    const std::vector<double> quantiles = figures(batch, "latency.quantiles_ns");
    Series series{file_name(model, "model"), {}};
    for (std::size_t percent = 0; percent < quantiles.size() && percent <= kLastShown; ++percent) {
      Point point{1e-6 * quantiles[percent], static_cast<double>(percent), {}};
      if (percent == 50 || percent == 90 || percent == 99)
        point.says = fmt::format("{}: {} % of the calls took at most {}", series.name, percent,
                                 time_text(1e-9 * quantiles[percent]));
      series.points.push_back(std::move(point));
    }
    if (series.points.empty()) continue;
    medians +=
        fmt::format("{}{} {}", medians.empty() ? "" : ", ", series.name, time_of(batch, "latency.p50_ns"));
    chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return {};
  chart.says = fmt::format("Cumulative distribution of latency, batch {:.0f}; medians: {}", size, medians);
  return heading("Latency distribution") +
         quiet(
             fmt::format("Batch {:.0f}. Lines further left are faster; marks are p50, p90 and p99. Medians: "
                         "{}.",
                         size, medians)) +
         draw(chart);
}

Markup speed_chart(const Json& document) {
  std::vector<Interval> intervals;
  bool is_base = true;
  for (const Json& model : list(document, "models")) {
    for (const Json& batch : list(model, "batches")) {
      const auto ratio = figure(batch, "speed_up.ratio");
      if (is_base || !ratio) continue;
      intervals.push_back(
          {fmt::format("{}, batch {}", file_name(model, "model"), figure_of(batch, "batch", 9)), *ratio,
           figure(batch, "speed_up.low").value_or(1), figure(batch, "speed_up.high").value_or(1),
           speed_text(batch)});
    }
    is_base = false;
  }
  if (intervals.empty()) return {};
  return heading("Speed relative to the first model, with 95 % confidence intervals") +
         draw_intervals(intervals,
                        fmt::format("Speed of {} models relative to the first; the line at 1 is equal speed",
                                    intervals.size()));
}

Markup start_table(const Json& document) {
  return data_table(
      "Loading and memory", list(document, "models"),
      {text_column("model", "model"), bytes_column("size", "bytes"), time_column("load", "load_ns"),
       time_column("first run", "first_run_ns"), time_column("cold start", "cold_start_ns"),
       bytes_column("peak memory", "peak_memory_bytes"),
       bytes_column("peak while loading", "load_memory.peak_bytes"),
       bytes_column("after loading", "load_memory.after_bytes")});
}

Markup run_table(const Json& document) {
  const Json* model = nullptr;  // the model of the current rows
  bool is_base = true;
  const auto throughput = [](const Json& batch) {
    const auto samples = figure(batch, "samples_per_second");
    return cell(fmt::format("{:.0f}", samples.value_or(0)), samples);
  };
  DataTable table("Latency", {{"model", [&](const Json&) { return cell(words(*model, "model")); }},
                              figure_column("batch", "batch", 9),
                              time_column("p50", "latency.p50_ns"),
                              time_column("p90", "latency.p90_ns"),
                              time_column("p99", "latency.p99_ns"),
                              time_column("min", "latency.min_ns"),
                              time_column("mean", "latency.mean_ns"),
                              {"samples/s", throughput, /*is_number=*/true},
                              {"speed (95 % CI)",
                               [&](const Json& batch) { return cell(is_base ? "1" : speed_text(batch)); }}});
  for (const Json& one : list(document, "models")) {
    model = &one;
    for (const Json& batch : list(one, "batches")) table.add_entry(batch);
    is_base = false;
  }
  return table.markup();
}

std::vector<SummaryRow> summary_of(const Json& document) {
  std::vector<SummaryRow> rows;
  for (const Json& model : list(document, "models")) {
    const Json& batch = batch_of(model);
    rows.push_back({file_name(model, "model"), "bench", bytes_of(model, "bytes"),
                    has_batch(model) ? fmt::format("p50 {}{}", time_of(batch, "latency.p50_ns"),
                                                   rows.empty() ? "" : ", " + speed_text(batch))
                                     : "–",
                    "–", "measured", Verdict::kNeutral});
  }
  return rows;
}

std::string headline_of(const Json& models) {
  if (models.size() > 1 && has_batch(models[1]))
    return fmt::format("{} compared with {}: {}", file_name(models[1], "model"),
                       file_name(models[0], "model"), speed_text(batch_of(models[1])));
  if (!models.empty() && has_batch(models[0]))
    return fmt::format("{}: {} per call (median)", file_name(models[0], "model"),
                       time_of(batch_of(models[0]), "latency.p50_ns"));
  return "measured";
}

// The first two models, side by side.
Markup comparison(const Json& models) {
  if (models.size() < 2 || !has_batch(models[0]) || !has_batch(models[1])) return {};
  const Json &before = models[0], &after = models[1];
  const std::string remark = fmt::format("{} → {}", file_name(before, "model"), file_name(after, "model"));
  return tiles(
      {{"latency (p50)", time_of(batch_of(before), "latency.p50_ns"),
        time_of(batch_of(after), "latency.p50_ns"), remark},
       {"size", bytes_of(before, "bytes"), bytes_of(after, "bytes"), remark},
       {"peak memory", bytes_of(before, "peak_memory_bytes"), bytes_of(after, "peak_memory_bytes"), remark},
       {"cold start", time_of(before, "cold_start_ns"), time_of(after, "cold_start_ns"), remark}});
}

}  // namespace bench_section

std::vector<Section> bench_sections(const Json& whole) {
  using namespace bench_section;
  const Json& document = first_result(whole);
  const Json& models = list(document, "models");
  Section section;
  section.title = fmt::format("bench: {} model{}", models.size(), models.size() == 1 ? "" : "s");
  section.summary = summary_of(document);
  section.headline = headline_of(models);
  section.body =
      comparison(models) +
      paragraph(fmt::format(
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
        "The charts show the first {} of {} batch sizes; the tables have all.", kMostCharts, sizes.size()));
  section.body += speed_chart(document) + run_table(document) + start_table(document) +
                  note_list(sentences(document, "notes"));
  return {section};
}

}  // namespace ounce::report::html
