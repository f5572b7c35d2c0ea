#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html/charts.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace quantize_section {

constexpr std::size_t kHistograms = 12;  // shown for weights, and for activations
constexpr std::size_t kMostPoints = 600;

std::string shape_text(const Json& tensor) {
  std::string made;
  for (const double size : figures(tensor, "shape"))
    made += fmt::format("{}{:.0f}", made.empty() ? "" : "×", size);
  return made.empty() ? "scalar" : made;
}

std::string full_name(const Json& entry) {
  const std::string scope = words(entry, "scope");
  return scope.empty() ? words(entry, "name") : scope + "/" + words(entry, "name");
}

std::string stored_text(const Json& tensor) {
  if (!is_true(tensor, "stored")) return "unchanged";
  return fmt::format("{} per {}, {}", words(tensor, "encoding"), words(tensor, "granularity"),
                     words(tensor, "decoder"));
}

std::vector<Tile> tiles_of(const Json& model) {
  const Json& trial = member(model, "trial");
  std::vector<Tile> all = {{"size", bytes_of(model, "bytes_before"), bytes_of(model, "bytes_after"),
                            percent_of(model, "ratio") + " of the original"}};
  if (is_true(trial, "tried") && figure(trial, "samples").value_or(0) > 0)
    all.push_back({"output SQNR", "", decibels_of(trial, "sqnr_db", "exact"),
                   fmt::format("on {} {}", figure_of(trial, "samples", 6),
                               is_true(trial, "generated") ? "random inputs" : "samples")});
  all.push_back({"weight SQNR", "", decibels_of(model, "sqnr_db", "exact"),
                 fmt::format("of {} compressed tensors", figure_of(model, "stored_tensors", 6))});
  if (figure(trial, "load_memory_before.peak_bytes") && figure(trial, "load_memory_after.peak_bytes"))
    all.push_back({"peak memory while loading", bytes_of(trial, "load_memory_before.peak_bytes"),
                   bytes_of(trial, "load_memory_after.peak_bytes"),
                   fmt::format("after loading: {} → {}", bytes_of(trial, "load_memory_before.after_bytes"),
                               bytes_of(trial, "load_memory_after.after_bytes"))});
  if (const auto speed = figure(trial, "speed_up.ratio"))
    all.push_back({"speed", "", fmt::format("{:.2f}×", *speed), "the original"});
  return all;
}

Markup plan_table(const Json& model) {
  const Json& tensors = list(model, "tensors");
  return details(fmt::format("The plan, tensor by tensor ({})", tensors.size()),
                 data_table("The plan: each float tensor with its decision and reason", tensors,
                            {text_column("tensor", full_name), text_column("op", "op_type"),
                             text_column("shape", shape_text), bytes_column("before", "bytes_before"),
                             bytes_column("after", "bytes_after"), text_column("stored as", stored_text),
                             decibel_column("SQNR", "sqnr_db", "exact"), text_column("reason", "reason")}));
}

Markup node_table(const Json& model) {
  const Json& nodes = list(model, "nodes");
  return details(fmt::format("Arithmetic of each node ({})", nodes.size()),
                 data_table("Arithmetic of each node", nodes,
                            {text_column("node", full_name), text_column("op", "op_type"),
                             text_column("arithmetic", "arithmetic"), text_column("reason", "reason")}));
}

// Downsamples: keeps the worst point of each group of neighbors.
std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> kept;
  const std::size_t count = std::min(kMostPoints, points.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * points.size() / count);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>((i + 1) * points.size() / count);
    kept.push_back(*std::min_element(first, end, [](const Point& a, const Point& b) { return a.y < b.y; }));
  }
  return kept;
}

// Plots the SQNR of weights in the order of the file, and of activations in the order of the network.
Markup sqnr_along(const Json& model) {
  Markup made;
  Series weights{"weights", {}}, activations{"activations", {}};
  for (const Json& tensor : list(model, "tensors")) {
    if (const auto sqnr = figure(tensor, "sqnr_db"); sqnr && is_true(tensor, "stored"))
      weights.points.push_back({static_cast<double>(weights.points.size() + 1), *sqnr,
                                fmt::format("{}: {}", full_name(tensor), decibel_text(*sqnr))});
  }
  std::vector<std::pair<double, const Json*>> order;
  for (const Json& activation : list(model, "activations")) {
    if (figure(activation, "sqnr_db"))
      order.emplace_back(figure(activation, "place").value_or(0), &activation);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, activation] : order) {
    const double sqnr = figure(*activation, "sqnr_db").value_or(0);
    activations.points.push_back(
        {static_cast<double>(activations.points.size() + 1), sqnr,
         fmt::format("{}: {} predicted", full_name(*activation), decibel_text(sqnr))});
  }
  const auto add = [&](Literal title, const char* axis, Series series) {
    if (series.points.size() < 2) return;
    const auto worst = std::min_element(series.points.begin(), series.points.end(),
                                        [](const Point& a, const Point& b) { return a.y < b.y; });
    const std::string says =
        fmt::format("{} {}; the lowest SQNR is that of {}", series.points.size(), series.name, worst->says);
    series.points = thinned(series.points);
    made += heading(title) +
            draw(LineChart{.says = says,
                           .x = {axis, ""},
                           .y = {"SQNR", "dB"},
                           .series = {std::move(series)},
                           .marks = true,
                           .is_joined = false}) +
            quiet(says + ".");
  };
  add("SQNR of each weight", "compressed tensors, in the order of the file", std::move(weights));
  add("SQNR of each activation", "quantized activations, in the order of the network",
      std::move(activations));
  return made;
}

Markup histogram_card(const Json& entry, const std::string& remark) {
  HistogramChart chart;
  chart.low = figure(entry, "histogram.low").value_or(0);
  chart.high = figure(entry, "histogram.high").value_or(0);
  chart.counts = figures(entry, "histogram.counts");
  chart.range_low = figure(entry, "range.low");
  chart.range_high = figure(entry, "range.high");
  chart.says =
      fmt::format("values of {} from {:.4g} to {:.4g}; {}", full_name(entry), chart.low, chart.high, remark);
  return element("figure", {{"class", "card"}},
                 draw(chart) + element("figcaption",
                                       element("b", text(full_name(entry))) + Markup("<br>") + text(remark)));
}

Markup histograms(const Json& model) {
  Markup made;
  const auto add = [&](Literal title, const char* key, const auto& remark) {
    std::vector<const Json*> entries;
    for (const Json& entry : list(model, key)) {
      if (member(entry, "histogram").is_object()) entries.push_back(&entry);
    }
    if (entries.empty()) return;
    std::stable_sort(entries.begin(), entries.end(), [](const Json* a, const Json* b) {
      return figure(*a, "sqnr_db").value_or(1e9) < figure(*b, "sqnr_db").value_or(1e9);
    });
    Markup cards;
    for (std::size_t i = 0; i < std::min(kHistograms, entries.size()); ++i)
      cards += histogram_card(*entries[i], remark(*entries[i]));
    made += heading(title);
    if (entries.size() > kHistograms)
      made += quiet(fmt::format("The {} with the lowest SQNR of {}.", kHistograms, entries.size()));
    made += element("div", {{"class", "cards"}}, cards);
  };
  add("Activation ranges and clipped values", "activations", [](const Json& entry) {
    const double clipped = figure(entry, "histogram.clipped_share").value_or(0);
    return fmt::format("{} … {} by {}, {} clipped, {}", figure_of(entry, "range.low", 3),
                       figure_of(entry, "range.high", 3), words(entry, "method"),
                       clipped == 0     ? "nothing"
                       : clipped < 1e-4 ? "< 0.01 %"
                                        : fmt::format("{:.2f} %", 100 * clipped),
                       decibels_of(entry, "sqnr_db", "exact"));
  });
  add("Weights", "tensors", [](const Json& entry) {
    return fmt::format("{}, {}", stored_text(entry), decibels_of(entry, "sqnr_db", "exact"));
  });
  if (made.is_empty()) return made;
  return made + quiet("Heights are square roots of counts, which makes the tails visible.");
}

// Lists unchanged tensors, grouped by the reason.
Markup kept_list(const Json& model) {
  std::map<std::string, std::pair<std::size_t, double>> reasons;
  for (const Json& tensor : list(model, "tensors")) {
    if (is_true(tensor, "stored")) continue;
    auto& [count, bytes] = reasons[words(tensor, "reason")];
    ++count;
    bytes += figure(tensor, "bytes_before").value_or(0);
  }
  std::vector<std::string> lines;
  for (const auto& [reason, sums] : reasons)
    lines.push_back(fmt::format("unchanged: {} tensor{}, {}: {}", sums.first, sums.first == 1 ? "" : "s",
                                bytes_text(static_cast<std::uint64_t>(std::clamp(sums.second, 0.0, 1e18))),
                                reason));
  return note_list(lines);
}

Section section_of(const Json& model) {
  const bool is_dry_run = is_true(model, "dry_run");
  Section section;
  const std::string output = file_name(model, "output"), source = file_name(model, "model");
  const Json& trial = member(model, "trial");
  const bool is_run = is_true(trial, "tried");
  section.title = fmt::format("quantize: {} to {}", source, words(model, "format"));
  section.verdict = is_dry_run || !is_run ? Verdict::kNeutral : Verdict::kGood;
  const std::string quality = decibels_of(trial, "sqnr_db", "exact");
  section.headline =
      is_dry_run
          ? fmt::format("Dry run: {} would have {} of the original size.", output, percent_of(model, "ratio"))
      : is_run ? fmt::format(
                     "{} has {} of the original size, and was compared with the original in ONNX "
                     "Runtime {}.",
                     output, percent_of(model, "ratio"), words(trial, "runtime_version"))
               : fmt::format(
                     "{} has {} of the original size; its weights were compared, but it was not "
                     "run{}{}.",
                     output, percent_of(model, "ratio"), words(trial, "why_not").empty() ? "" : ": ",
                     words(trial, "why_not"));
  section.body = tiles(tiles_of(model)) + note_list(sentences(model, "notes")) + kept_list(model) +
                 cpu_table(list(trial, "cpus")) + sqnr_along(model) + histograms(model) + plan_table(model) +
                 node_table(model);
  section.summary = {{source, words(model, "format"), percent_of(model, "ratio"), "–", quality,
                      is_dry_run ? "dry run"
                      : is_run   ? "written and run"
                                 : "written, not run",
                      section.verdict}};
  return section;
}

}  // namespace quantize_section

std::vector<Section> quantize_sections(const Json& document) {
  return section_each("quantize", document, quantize_section::section_of);
}

}  // namespace ounce::report::html
