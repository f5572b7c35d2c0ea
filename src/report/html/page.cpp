#include "report/html/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/digest.h"
#include "base/json_text.h"
#include "base/text.h"
#include "report/html/section.h"

namespace ounce::report::html {
namespace {

constexpr JsonLimits kRunLimits = {.depth = 16, .bytes = std::size_t{64} << 20};

struct Drawing {
  const char* verb;
  std::vector<Section> (*sections)(const Json&);
};

const std::vector<Drawing>& drawings() {
  static const std::vector<Drawing> kAll = {
      {"quantize", quantize_sections}, {"verify", verify_sections},
      {"bench", bench_sections},       {"sensitivity", sensitivity_sections},
      {"tune", tune_sections},         {"advise", advise_sections},
      {"check", check_sections},       {"diff", diff_sections}};
  return kAll;
}

std::vector<Section> sections_of(const Run& run) {
  const std::string verb = words(run.document, "verb");
  for (const Drawing& drawing : drawings()) {
    if (verb == drawing.verb) return drawing.sections(run.document);
  }
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{}; a report needs a document that 'ounce VERB --json' printed, of {}",
                  verb.empty() ? "is not a document of Ounce" : fmt::format("is a document of '{}'", verb),
                  fmt::join(drawn_verbs(), ", ")),
      run.name);
}

std::string from_hexadecimal(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

// Allows no network access, and only the embedded script and style sheet.
std::string content_policy() {
  const auto source = [](std::string_view code) {
    return "'sha256-" + base64(from_hexadecimal(sha256_of(code))) + "'";
  };
  return fmt::format(
      "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
      source(style_sheet()), source(script()));
}

Markup overview(const std::vector<Section>& sections) {
  DataTable table("All runs in this report",
                  {{"model"}, {"run"}, {"size", {}, /*is_number=*/true}, {"speed"}, {"quality"}, {"result"}});
  for (const Section& section : sections) {
    for (const SummaryRow& row : section.summary)
      table.add({cell(row.model),
                 cell(row.what),
                 cell(row.size),
                 cell(row.speed),
                 cell(row.quality),
                 {badge(row.kind, row.verdict)}});
  }
  return table.rows() > 1 ? table.markup() : Markup();
}

struct Overall {
  Verdict verdict = Verdict::kNeutral;
  std::string badge, sentence;
};

// Prefers the verdicts of verify and tune, which judge accuracy, to those of other verbs.
const Section& loudest(const std::vector<Section>& sections, Verdict verdict) {
  for (const char* verb : {"verify:", "tune:", ""}) {
    for (const Section& section : sections) {
      if (section.verdict == verdict && section.title.starts_with(verb)) return section;
    }
  }
  return sections.front();
}

Overall overall_of(const std::vector<Section>& sections) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(sections.begin(), sections.end(),
                         [&](const Section& section) { return section.verdict == verdict; });
  };
  const auto good = count(Verdict::kGood), bad = count(Verdict::kBad);
  if (sections.empty()) return {Verdict::kNeutral, "empty", "no results"};
  const auto sentence = [&](Verdict verdict, auto so_many) {
    const std::string& headline = loudest(sections, verdict).headline;
    return good + bad == 1 ? headline : fmt::format("{} of {} results: {}", so_many, good + bad, headline);
  };
  if (bad != 0) return {Verdict::kBad, "failed", sentence(Verdict::kBad, bad)};
  if (good != 0) return {Verdict::kGood, "passed", sentence(Verdict::kGood, good)};
  return {Verdict::kNeutral, "measured", sections.front().headline};
}

Markup headline_of(const Section& section) {
  const bool is_judged = section.verdict != Verdict::kNeutral;
  const bool is_good = section.verdict == Verdict::kGood;
  const Markup sign =
      is_judged ? badge(section.verdict, is_good ? "passed" : "failed") + Markup(" ") : Markup();
  return element("p", {{"class", "headline"}}, sign + text(section.headline));
}

// `is_only`: the headline of the only section is already at the top of the page.
Markup section_markup(const Section& section, std::size_t number, const Run* run, bool is_only) {
  const std::string id = fmt::format("part-{}", number);
  Markup body = element("h2", {{"id", id}}, text(section.title)) +
                (is_only ? Markup() : headline_of(section)) + section.body;
  if (run != nullptr) {
    const Markup again = command_block(words(run->document, "command"));
    if (!again.is_empty()) body += heading("Command") + again;
    if (!run->name.empty()) body += quiet("Source: " + run->name);
  }
  return element("section", {{"aria-labelledby", id}}, body);
}

}  // namespace

const std::vector<std::string>& drawn_verbs() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (const Drawing& drawing : drawings()) all.emplace_back(drawing.verb);
    return all;
  }();
  return kAll;
}

std::string_view page_start() { return "<!DOCTYPE html>\n<!-- a report of ounce -->\n"; }

Run parse_run(std::string_view text, const std::string& name) {
  const Json document = parse_json<Json>(text, kRunLimits, name);
  return {name, is_version1(document) ? from_version1(document) : document};
}

std::string page(const std::vector<Run>& runs) {
  std::vector<Section> sections;
  std::vector<const Run*> last_of;  // the run whose last section this is; its command follows
  for (const Run& run : runs) {
    const std::size_t before = sections.size();
    for (Section& section : sections_of(run)) {
      sections.push_back(std::move(section));
      last_of.push_back(nullptr);
    }
    if (sections.size() > before) last_of.back() = &run;
  }
  const Overall overall = overall_of(sections);
  Markup parts;
  for (std::size_t i = 0; i < sections.size(); ++i)
    parts += section_markup(sections[i], i + 1, last_of[i], sections.size() == 1);
  const Markup head =
      Markup(
          "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\">") +
      lone_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", content_policy()}}) +
      Markup("<meta name=\"referrer\" content=\"no-referrer\">") +
      element("title", text("Ounce: " + overall.sentence)) + element("style", Markup::asset(style_sheet()));
  const Markup body =
      Markup("<a class=\"skip\" href=\"#main\">Skip to the content</a>") +
      element("header", Markup("<p class=\"brand\">Ounce report</p>") +
                            element("h1", badge(overall.verdict, overall.badge) + Markup(" ") +
                                              text(overall.sentence))) +
      element("main", {{"id", "main"}}, overview(sections) + parts) +
      element("footer",
              text(fmt::format(
                  "Made by Ounce {}. This page is self-contained: it loads nothing and sends nothing.",
                  version()))) +
      element("script", Markup::asset(script()));
  return std::string(page_start()) +
         element("html", {{"lang", "en"}}, element("head", head) + element("body", body)).html() + "\n";
}

namespace {

// A renamed key of version 1. `object` is the key of the object that has it; empty: any object.
struct Rename {
  std::string_view object, from, to;  // `to` may be a path: "latency.p50_ns"
  double factor = 0;                  // multiplies numbers; 0: keep the value
};

constexpr double kNanoseconds = 1e9;

constexpr Rename kRenames[] = {
    {"trial", "output_sqnr_db", "sqnr_db"},
    {"trial", "output_identical", "exact"},
    {"trial", "output_slice", "slice"},
    {"trial", "speed", "speed_up"},
    {"execution", "output_sqnr_db", "sqnr_db"},
    {"load_memory", "peak", "peak_bytes"},
    {"load_memory", "stays", "after_bytes"},
    {"load_memory_before", "peak", "peak_bytes"},
    {"load_memory_before", "stays", "after_bytes"},
    {"load_memory_after", "peak", "peak_bytes"},
    {"load_memory_after", "stays", "after_bytes"},
    {"activations", "low", "range.low"},
    {"activations", "high", "range.high"},
    {"activations", "clipped_share", "histogram.clipped_share"},
    {"batches", "mean", "latency.mean_ns", kNanoseconds},
    {"batches", "p50", "latency.p50_ns", kNanoseconds},
    {"batches", "p90", "latency.p90_ns", kNanoseconds},
    {"batches", "p99", "latency.p99_ns", kNanoseconds},
    {"batches", "min", "latency.min_ns", kNanoseconds},
    {"batches", "quantiles", "latency.quantiles_ns", kNanoseconds},
    {"baseline", "p50_seconds", "latency.p50_ns", kNanoseconds},
    {"", "identical", "exact"},
    {"", "peak_memory", "peak_memory_bytes"},
    {"", "top1_agreement", "agreement"},
    {"", "first_seconds", "first_run_ns", kNanoseconds},
    {"", "load_seconds", "load_ns", kNanoseconds},
    {"", "cold_start_seconds", "cold_start_ns", kNanoseconds},
    {"", "seconds", "duration_ns", kNanoseconds},
};

Json scaled(const Json& value, double factor) {
  if (factor == 0) return value;
  if (value.is_number()) return std::round(value.get<double>() * factor);
  if (!value.is_array()) return nullptr;
  Json all = Json::array();
  for (const Json& one : value) all.push_back(one.is_number() ? scaled(one, factor) : Json(nullptr));
  return all;
}

void put(Json& object, std::string_view path, Json value) {
  const std::size_t dot = path.find('.');
  if (dot == path.npos) {
    object[std::string(path)] = std::move(value);
    return;
  }
  Json& inner = object[std::string(path.substr(0, dot))];
  if (!inner.is_object()) inner = Json::object();
  put(inner, path.substr(dot + 1), std::move(value));
}

const Rename* rename_of(std::string_view object, std::string_view key) {
  // Only methods of advise renamed this key; outputs of verify still have it.
  if (key == "top1_agreement" && object != "methods") return nullptr;
  for (const Rename& rename : kRenames) {
    if (rename.from == key && (rename.object.empty() || rename.object == object)) return &rename;
  }
  return nullptr;
}

// `name`: the key of the value, or of the list that contains it.
Json renamed(const Json& value, std::string_view name) {
  if (value.is_array()) {
    Json all = Json::array();
    for (const Json& one : value) all.push_back(renamed(one, name));
    return all;
  }
  if (!value.is_object()) return value;
  Json made = Json::object();
  for (const auto& [key, inner] : value.items()) {
    if (const Rename* const rename = rename_of(name, key)) {
      put(made, rename->to, scaled(renamed(inner, rename->to), rename->factor));
    } else {
      made[key] = renamed(inner, key);
    }
  }
  return made;
}

Json& changeable_list(Json& object, const char* key) {
  Json& found = object[key];
  if (!found.is_array()) found = Json::array();
  return found;
}

// Converts differences between the versions that are not renamed keys.
void adapt(const std::string& verb, const Json& document, Json& result) {
  if (verb == "quantize") result["dry_run"] = is_true(document, "dry_run");
  if (verb == "verify") {
    result["reference"] = words(document, "reference");
    for (Json& output :
         result["outputs"].is_array() ? result["outputs"] : result["outputs"] = Json::array()) {
      if (!output.is_object()) continue;
      if (!output.contains("judged")) output["judged"] = !is_true(output, "state");
      output["labels"] = words(output, "kind") == "labels";
    }
  }
  if (verb == "sensitivity") {
    result["min_sqnr_db"] = member(document, "min_sqnr");
    Json nodes = Json::object();
    for (const Json& node : list(result, "nodes")) nodes[words(node, "name")] = words(node, "format");
    result["nodes"] = std::move(nodes);
  }
  if (verb != "advise") return;
  for (Json& method : changeable_list(result, "methods")) {
    if (!method.is_object() || !member(method, "speed_up").is_object()) continue;
    if (!method["speed_up"].contains("reliable")) method["speed_up"]["reliable"] = true;
  }
}

}  // namespace

bool is_version1(const Json& document) {
  const Json& version = member(document, "schema_version");
  return version.is_number() && version == 1;
}

Json from_version1(const Json& document) {
  const std::string verb = words(document, "verb");
  Json results = Json::array(), errors = Json::array();
  const bool is_one = verb == "bench" || verb == "diff";
  const Json whole = Json::array({document});
  for (const Json& entry : is_one ? whole : list(document, verb == "verify" ? "candidates" : "models")) {
    if (const std::string message = words(entry, "error"); !message.empty()) {
      errors.push_back(
          {{"model", words(entry, verb == "verify" ? "candidate" : "model")}, {"message", message}});
      continue;
    }
    Json result = renamed(entry, "results");
    if (result.is_object()) adapt(verb, document, result);
    results.push_back(std::move(result));
  }
  return {{"schema_version", 2},
          {"verb", verb},
          {"command", words(document, "command")},
          {"results", std::move(results)},
          {"errors", std::move(errors)}};
}

}  // namespace ounce::report::html
