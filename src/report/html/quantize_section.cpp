#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/html/charts.h"
#include "report/html/document.h"
#include "report/html/section.h"
#include "report/table.h"

namespace ounce::report::html {
namespace quantize_section {

constexpr std::size_t kHistograms = 12;  // of weights, and of activations
constexpr std::size_t kMostPoints = 600;
constexpr auto kNumber = DataTable::Kind::kNumber;

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
  if (!is_true(tensor, "stored")) return "kept";
  return fmt::format("{} per {}, {}", words(tensor, "encoding"), words(tensor, "granularity"),
                     words(tensor, "decoder"));
}

std::vector<Tile> tiles_of(const Json& model) {
  const Json& trial = member(model, "trial");
  std::vector<Tile> all = {{"size", bytes_of(model, "bytes_before"), bytes_of(model, "bytes_after"),
                            percent_of(model, "ratio") + " of the bytes"}};
  if (is_true(trial, "tried") && figure(trial, "samples").value_or(0) > 0)
    all.push_back({"output against the original", "", decibels_of(trial, "sqnr_db", "exact"),
                   fmt::format("SQNR on {} {}", figure_of(trial, "samples", 6),
                               is_true(trial, "generated") ? "random inputs" : "samples")});
  all.push_back({"weights against the original", "", decibels_of(model, "sqnr_db", "exact"),
                 fmt::format("SQNR of {} stored tensors", figure_of(model, "stored_tensors", 6))});
  const Json &before = member(trial, "load_memory_before"), &after = member(trial, "load_memory_after");
  if (figure(before, "peak_bytes") && figure(after, "peak_bytes"))
    all.push_back(
        {"memory while it loads", bytes_of(before, "peak_bytes"), bytes_of(after, "peak_bytes"),
         fmt::format("{} stay, {} before", bytes_of(after, "after_bytes"), bytes_of(before, "after_bytes"))});
  if (const auto speed = figure(member(trial, "speed_up"), "ratio"))
    all.push_back({"speed", "", fmt::format("{:.2f} ×", *speed), "of the original"});
  return all;
}

Markup plan_table(const Json& model) {
  DataTable table("The plan: every float tensor, what became of it, and why", {{"tensor"},
                                                                               {"op"},
                                                                               {"shape"},
                                                                               {"before", kNumber},
                                                                               {"after", kNumber},
                                                                               {"stored as"},
                                                                               {"SQNR", kNumber},
                                                                               {"reason"}});
  for (const Json& tensor : list(model, "tensors")) {
    table.add({cell(full_name(tensor)), cell(words(tensor, "op_type")), cell(shape_text(tensor)),
               cell(bytes_of(tensor, "bytes_before"), figure(tensor, "bytes_before")),
               cell(bytes_of(tensor, "bytes_after"), figure(tensor, "bytes_after")),
               cell(stored_text(tensor)),
               cell(decibels_of(tensor, "sqnr_db", "exact"), figure(tensor, "sqnr_db")),
               cell(words(tensor, "reason"))});
  }
  return details(fmt::format("The plan, tensor by tensor ({})", table.rows()), table.markup());
}

Markup node_table(const Json& model) {
  DataTable table("How every node computes", {{"node"}, {"op"}, {"computes on"}, {"reason"}});
  for (const Json& node : list(model, "nodes"))
    table.add({cell(full_name(node)), cell(words(node, "op_type")), cell(words(node, "arithmetic")),
               cell(words(node, "reason"))});
  return details(fmt::format("How every node computes ({})", table.rows()), table.markup());
}

// Of many points neighbours make way for the worst of them.
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

// Weights in the order of the file, activations in that of the network.
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
        fmt::format("{} {}, in order; the worst is {}", series.points.size(), series.name, worst->says);
    series.points = thinned(series.points);
    made += heading(title) +
            draw(LineChart{says, {axis, ""}, {"SQNR", "dB"}, {std::move(series)}, true, false, false}) +
            element("p", {{"class", "quiet"}}, text(says + "."));
  };
  add("How close every weight is", "stored tensors, in the order of the file", std::move(weights));
  add("How close every activation is", "values that are codes, in the order of the network",
      std::move(activations));
  return made;
}

Markup histogram_card(const Json& entry, const std::string& remark) {
  const Json& histogram = member(entry, "histogram");
  HistogramChart chart;
  chart.low = figure(histogram, "low").value_or(0);
  chart.high = figure(histogram, "high").value_or(0);
  chart.counts = figures(histogram, "counts");
  chart.range_low = figure(member(entry, "range"), "low");
  chart.range_high = figure(member(entry, "range"), "high");
  chart.says =
      fmt::format("values of {} from {:.4g} to {:.4g}; {}", full_name(entry), chart.low, chart.high, remark);
  return element("figure", {{"class", "card"}},
                 draw(chart) + element("figcaption",
                                       element("b", text(full_name(entry))) + Markup("<br>") + text(remark)));
}

Markup histograms(const Json& model) {
  std::vector<const Json*> weights, activations;
  for (const Json& tensor : list(model, "tensors")) {
    if (member(tensor, "histogram").is_object()) weights.push_back(&tensor);
  }
  for (const Json& activation : list(model, "activations")) {
    if (member(activation, "histogram").is_object()) activations.push_back(&activation);
  }
  const auto by_sqnr = [](const Json* a, const Json* b) {
    return figure(*a, "sqnr_db").value_or(1e9) < figure(*b, "sqnr_db").value_or(1e9);
  };
  std::stable_sort(weights.begin(), weights.end(), by_sqnr);
  std::stable_sort(activations.begin(), activations.end(), by_sqnr);
  Markup made;
  const auto add = [&](Literal title, const std::vector<const Json*>& entries, const auto& remark) {
    if (entries.empty()) return;
    Markup cards;
    for (std::size_t i = 0; i < std::min(kHistograms, entries.size()); ++i)
      cards += histogram_card(*entries[i], remark(*entries[i]));
    made += heading(title);
    if (entries.size() > kHistograms)
      made += element("p", {{"class", "quiet"}},
                      text(fmt::format("The {} with the lowest SQNR of {}.", kHistograms, entries.size())));
    made += element("div", {{"class", "cards"}}, cards);
  };
  add("Activations: the range that was chosen, and what it clips", activations, [](const Json& entry) {
    const Json& range = member(entry, "range");
    const double clipped = figure(member(entry, "histogram"), "clipped_share").value_or(0);
    return fmt::format("{} … {} by {}, {} clipped, {}", figure_of(range, "low", 3),
                       figure_of(range, "high", 3), words(entry, "method"),
                       clipped == 0     ? "nothing"
                       : clipped < 1e-4 ? "< 0.01 %"
                                        : fmt::format("{:.2f} %", 100 * clipped),
                       decibels_of(entry, "sqnr_db", "exact"));
  });
  add("Weights", weights, [](const Json& entry) {
    return fmt::format("{}, {}", stored_text(entry), decibels_of(entry, "sqnr_db", "exact"));
  });
  if (made.is_empty()) return made;
  return made + element("p", {{"class", "quiet"}},
                        Markup("Heights are square roots of counts, so that the tails show."));
}

// What was left alone, grouped by the reason.
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
    lines.push_back(fmt::format("left alone: {} tensor{}, {}: {}", sums.first, sums.first == 1 ? "" : "s",
                                bytes_text(static_cast<std::uint64_t>(std::clamp(sums.second, 0.0, 1e18))),
                                reason));
  return note_list(lines);
}

Section section_of(const Json& model) {
  const bool is_dry_run = is_true(model, "dry_run");
  Section section;
  const std::string output = file_name(words(model, "output")), source = file_name(words(model, "model"));
  const Json& trial = member(model, "trial");
  const bool is_run = is_true(trial, "tried");
  section.title = fmt::format("quantize: {} to {}", source, words(model, "format"));
  section.verdict = is_dry_run || !is_run ? Verdict::kNeutral : Verdict::kGood;
  const std::string quality = decibels_of(trial, "sqnr_db", "exact");
  section.headline =
      is_dry_run
          ? fmt::format("A dry run: {} would have {} of the bytes.", output, percent_of(model, "ratio"))
      : is_run ? fmt::format("{} has {} of the bytes; it was reopened, compared and run in ONNX Runtime {}.",
                             output, percent_of(model, "ratio"), words(trial, "runtime_version"))
               : fmt::format("{} has {} of the bytes; it was reopened and compared, but not run{}{}.", output,
                             percent_of(model, "ratio"), words(trial, "why_not").empty() ? "" : ": ",
                             words(trial, "why_not"));
  section.body = tiles(tiles_of(model)) + note_list(sentences(model, "notes")) + kept_list(model) +
                 cpu_table(list(trial, "cpus")) + sqnr_along(model) + histograms(model) + plan_table(model) +
                 node_table(model);
  section.summary = {{source, words(model, "format"), percent_of(model, "ratio"), "–", quality,
                      is_dry_run ? "dry run"
                      : is_run   ? "written, run"
                                 : "written, not run",
                      section.verdict}};
  return section;
}

}  // namespace quantize_section

std::vector<Section> quantize_sections(const Json& document) {
  return section_each("quantize", document, quantize_section::section_of);
}

}  // namespace ounce::report::html
