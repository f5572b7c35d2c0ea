#include "report/html/key_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/table.h"

namespace ounce::report::html {
namespace {

std::string without_first_word(std::string verdict) {
  for (const std::string_view word : {"passed: ", "failed: "}) {
    if (verdict.starts_with(word)) return verdict.substr(word.size());
  }
  return verdict;
}

void add_speed(const Json& speed_up, KeyFigures& figures) {
  figures.speed = figure(speed_up, "ratio");
  figures.speed_low = figure(speed_up, "low");
  figures.speed_high = figure(speed_up, "high");
  figures.is_speed_certain = is_true(speed_up, "measurable");
  const Json& reliable = member(speed_up, "reliable");
  if (reliable.is_boolean() && !reliable.get<bool>()) figures.speed = {};  // measured on a busy machine
}

void add_metric(const Json& metric, KeyFigures& figures) {
  if (!figure(metric, "candidate")) return;
  figures.metric = words(metric, "name");
  figures.quality = {figure(metric, "reference"), figure(metric, "candidate")};
  figures.is_share = words(metric, "unit") == "share";
  figures.drop = figure(metric, "drop");
}

KeyFigures quantize_figures(const Json& result) {
  KeyFigures figures;
  const Json& trial = member(result, "trial");
  const bool is_dry_run = is_true(result, "dry_run"), is_run = is_true(trial, "tried");
  figures.model = file_name(result, "output");
  figures.original = file_name(result, "model");
  figures.bytes = {figure(result, "bytes_before"), figure(result, "bytes_after")};
  figures.memory = {figure(trial, "load_memory_before.after_bytes"),
                    figure(trial, "load_memory_after.after_bytes")};
  figures.sqnr_db = figure(trial, "sqnr_db");
  figures.is_exact = is_true(trial, "exact");
  add_speed(member(trial, "speed_up"), figures);
  if (is_dry_run) {
    figures.word = "dry run";
    figures.sentence = "nothing was written; the size is an estimate";
  } else if (is_run) {
    figures.verdict = Verdict::kGood;
    figures.word = "written";
    figures.sentence = fmt::format("compared with {} on {:.0f} {} in ONNX Runtime {} before it was written",
                                   figures.original, figure(trial, "samples").value_or(0),
                                   is_true(trial, "generated") ? "random inputs" : "samples",
                                   words(trial, "runtime_version"));
  } else {
    const std::string why = words(trial, "why_not");
    figures.word = "written, not run";
    figures.sentence =
        "its weights were compared with the original, but it was not run" + (why.empty() ? "" : ": " + why);
  }
  return figures;
}

KeyFigures verify_figures(const Json& result) {
  KeyFigures figures;
  const bool has_passed = is_true(result, "passed");
  figures.model = file_name(result, "candidate");
  figures.original = file_name(result, "reference");
  figures.verdict = has_passed ? Verdict::kGood : Verdict::kBad;
  figures.word = has_passed ? "passed" : "failed";
  figures.sentence = without_first_word(words(result, "verdict"));
  figures.bytes = {figure(result, "reference_bytes"), figure(result, "candidate_bytes")};
  figures.agreement = figure(result, "agreement");
  figures.is_exact = is_true(result, "exact");
  figures.sqnr_db = figure(result, "worst_sqnr_db");
  if (!figures.sqnr_db && !figures.is_exact) {  // documents of version 1 have it by output only
    for (const Json& output : list(result, "outputs")) {
      const auto sqnr = figure(output, "sqnr_db");
      if (is_true(output, "judged") && sqnr)
        figures.sqnr_db = std::min(*sqnr, figures.sqnr_db.value_or(*sqnr));
    }
  }
  add_metric(first(result, "metrics"), figures);
  return figures;
}

// A row for each model after the first.
std::vector<KeyFigures> bench_figures(const Json& result) {
  const Json& models = list(result, "models");
  std::vector<KeyFigures> all;
  const Json& base = first(result, "models");
  for (std::size_t i = models.size() > 1 ? 1 : 0; i < models.size() && all.size() <= kMostResults; ++i) {
    const Json& batch = first(models[i], "batches");
    KeyFigures figures;
    figures.model = file_name(models[i], "model");
    figures.word = "measured";
    figures.bytes = {figure(base, "bytes"), figure(models[i], "bytes")};
    const auto p50 = figure(batch, "latency.p50_ns");
    const std::string per_call = p50 ? time_text(1e-9 * *p50) + " per call (median)" : "no time was measured";
    if (i == 0) {
      figures.bytes.before = {};
      figures.sentence = per_call;
    } else {
      figures.original = file_name(base, "model");
      figures.memory = {figure(base, "load_memory.after_bytes"),
                        figure(models[i], "load_memory.after_bytes")};
      add_speed(member(batch, "speed_up"), figures);
      figures.sentence = fmt::format("{}, compared with {}", per_call, figures.original);
    }
    all.push_back(std::move(figures));
  }
  return all;
}

KeyFigures tune_figures(const Json& result) {
  KeyFigures figures;
  const Json &best = member(result, "best"), &held_out = member(result, "held_out");
  const bool has_passed = is_true(result, "passed");
  figures.model = file_name(result, has_passed ? "output" : "model");
  figures.original = has_passed ? file_name(result, "model") : "";
  figures.verdict = has_passed ? Verdict::kGood : Verdict::kBad;
  figures.word = has_passed ? "passed" : "nothing passed";
  figures.bytes = {figure(result, "bytes_before"), figure(best, "bytes")};
  figures.sqnr_db = figure(held_out, "sqnr_db");
  figures.is_exact = is_true(held_out, "exact");
  figures.agreement = figure(held_out, "agreement");
  add_speed(member(best, "speed_up"), figures);
  add_metric(member(held_out, "metric"), figures);
  if (has_passed)
    figures.sentence = fmt::format("{} was chosen; on held-out samples: {}", words(best, "name"),
                                   without_first_word(words(held_out, "verdict")));
  else if (best.is_object())
    figures.sentence = fmt::format("the closest candidate is {}: {}", words(best, "name"),
                                   without_first_word(words(best, "verdict")));
  else
    figures.sentence = "no candidate could be made";
  return figures;
}

KeyFigures advise_figures(const Json& result) {
  KeyFigures figures;
  figures.model = file_name(result, "model");
  const std::string verdict = words(result, "verdict");
  figures.word = verdict == "quantize"          ? "quantize"
                 : verdict == "store_small"     ? "compress the weights"
                 : verdict == "do_not_quantize" ? "keep the original"
                                                : "no recommendation yet";
  figures.sentence = words(result, "headline");
  for (const Json& method : list(result, "methods")) {
    if (!is_true(method, "acceptable") || verdict == "do_not_quantize") continue;
    figures.bytes = {figure(result, "bytes"), figure(method, "bytes")};
    figures.memory = {figure(result, "baseline.load_memory.after_bytes"),
                      figure(method, "load_memory.after_bytes")};
    figures.sqnr_db = figure(method, "sqnr_db");
    figures.is_exact = is_true(method, "exact");
    figures.agreement = figure(method, "agreement");
    add_speed(member(method, "speed_up"), figures);
    add_metric(member(method, "metric"), figures);
    break;
  }
  return figures;
}

KeyFigures sensitivity_figures(const Json& result) {
  KeyFigures figures;
  const std::string format = words(result, "format");
  const std::size_t exclude = list(result, "exclude").size();
  const double wanted = figure(result, "min_sqnr_db").value_or(0);
  figures.model = file_name(result, "model");
  figures.word = "measured";
  figures.sqnr_db = figure(result, "all_db");
  if (exclude == 0 && is_true(result, "enough"))
    figures.sentence = fmt::format("{} reaches {:g} dB without excluding layers", format, wanted);
  else if (exclude == 0)
    figures.sentence = fmt::format("excluding layers does not bring the outputs to {:g} dB", wanted);
  else
    figures.sentence = fmt::format(
        "{} reaches {} with {} layer{} excluded{}", format,
        decibel_text(figure(result, "exclude_db").value_or(NAN)), exclude, exclude == 1 ? "" : "s",
        is_true(result, "enough") ? "" : fmt::format("; {:g} dB is not reached", wanted));
  return figures;
}

bool has_problem(const Json& target) {
  const std::string verdict = words(target, "verdict");
  return verdict == "wrong" || verdict == "not_implemented" || verdict == "fails";
}

KeyFigures check_figures(const Json& result) {
  KeyFigures figures;
  const Json& targets = list(result, "targets");
  const auto bad = static_cast<std::size_t>(std::count_if(targets.begin(), targets.end(), has_problem));
  figures.model = file_name(result, "model");
  figures.verdict = bad == 0 ? Verdict::kGood : Verdict::kBad;
  figures.word = bad == 0 ? "no problem found" : "problems found";
  figures.bytes = {{}, figure(result, "file_bytes")};
  figures.sentence =
      bad == 0 ? fmt::format("checked for {} target{}", targets.size(), targets.size() == 1 ? "" : "s")
               : fmt::format("does not work on {} of {} targets", bad, targets.size());
  return figures;
}

KeyFigures diff_figures(const Json& result) {
  KeyFigures figures;
  figures.model = file_name(result, "b");
  figures.original = file_name(result, "a");
  figures.bytes = {figure(result, "bytes_before"), figure(result, "bytes_after")};
  const bool is_same = is_true(result, "same");
  figures.word = is_same ? "same model" : "different";
  figures.sentence =
      is_same ? fmt::format("same model as {}", figures.original)
              : fmt::format("{} nodes changed, {} added, {} removed; {} weights differ",
                            list(result, "nodes_changed").size(), list(result, "nodes_added").size(),
                            list(result, "nodes_removed").size(), list(result, "tensors").size());
  return figures;
}

KeyFigures inspect_figures(const Json& result) {
  KeyFigures figures;
  const double after = figure(result, "bytes_after").value_or(0);
  figures.model = file_name(result, "model");
  figures.word = "inspected";
  figures.bytes = {{}, figure(result, "bytes")};
  const double nodes = figure(result, "nodes").value_or(0);
  figures.sentence = fmt::format("{:.0f} node{}; ", nodes, nodes == 1 ? "" : "s");
  if (after > 0)
    figures.sentence += "compressed, the model would have about " +
                        bytes_text(static_cast<std::uint64_t>(std::min(after, 1e18)));
  else
    figures.sentence += "the model cannot be compressed";
  return figures;
}

// verify and bench of language models, token by token.
bool is_of_tokens(const Json& result) { return member(first(result, "models"), "next_token").is_object(); }

std::vector<KeyFigures> token_figures(const Json& result) {
  std::vector<KeyFigures> all;
  for (const Json& model : list(result, "models")) {
    if (all.size() > kMostResults) break;
    KeyFigures& figures = all.emplace_back();
    const Json& passed = member(model, "passed");
    figures.model = file_name(model, "model");
    figures.bytes = {figure(first(result, "models"), "bytes"), figure(model, "bytes")};
    figures.word = "measured";
    if (passed.is_boolean()) {
      figures.verdict = passed.get<bool>() ? Verdict::kGood : Verdict::kBad;
      figures.word = passed.get<bool>() ? "passed" : "failed";
    }
    figures.sentence = without_first_word(words(model, "verdict"));
    if (figures.sentence.empty())
      figures.sentence =
          time_text(1e-9 * figure(model, "next_token.p50_ns").value_or(0)) + " per token (median)";
  }
  return all;
}

struct Row {
  std::string_view verb;
  KeyFigures (*figures)(const Json& result);
};

constexpr Row kRows[] = {
    {"quantize", quantize_figures}, {"verify", verify_figures},           {"tune", tune_figures},
    {"advise", advise_figures},     {"sensitivity", sensitivity_figures}, {"check", check_figures},
    {"diff", diff_figures},         {"inspect", inspect_figures}};

std::vector<KeyFigures> figures_of(const std::string& verb, const Json& result) {
  if (is_of_tokens(result)) return token_figures(result);
  if (verb == "bench") return bench_figures(result);
  for (const Row& row : kRows) {
    if (verb == row.verb) return {row.figures(result)};
  }
  return {};
}

bool has_failed(const Json& result) {
  return member(result, "passed").is_boolean() && !is_true(result, "passed");
}

// Represents the results that are not shown. Failures among them make the whole report fail.
KeyFigures rest_of(const Json& results, const Json& errors) {
  std::size_t failed = 0;
  for (std::size_t i = kMostResults; i < results.size(); ++i)
    failed += has_failed(results[i]) || check_figures(results[i]).verdict == Verdict::kBad ? 1U : 0U;
  const std::size_t count = results.size() + errors.size();
  failed += count - std::max(results.size(), kMostResults);
  KeyFigures figures;
  figures.verdict = failed == 0 ? Verdict::kNeutral : Verdict::kBad;
  figures.word = "not shown";
  figures.sentence = fmt::format("{} more are not shown, {} of them failed; the JSON document has all",
                                 count - kMostResults, failed);
  return figures;
}

}  // namespace

std::vector<KeyFigures> key_figures(const Json& document) {
  const Json &results = list(document, "results"), &errors = list(document, "errors");
  const std::string verb = words(document, "verb");
  std::vector<KeyFigures> all;
  for (std::size_t i = 0; i < results.size() && all.size() < kMostResults; ++i) {
    for (KeyFigures& figures : figures_of(verb, results[i])) {
      figures.result = i;
      all.push_back(std::move(figures));
    }
  }
  for (const Json& error : errors) {
    if (all.size() >= kMostResults) break;
    KeyFigures& figures = all.emplace_back();
    figures.model = file_name(error, "model");
    figures.verdict = Verdict::kBad;
    figures.word = "error";
    figures.sentence = words(error, "message");
    figures.result = results.size();
  }
  if (results.size() + errors.size() > kMostResults) {
    all.push_back(rest_of(results, errors));
    all.back().result = results.size();
  }
  for (KeyFigures& figures : all) figures.verb = verb;
  return all;
}

Overall overall_of(const std::vector<KeyFigures>& all) {
  Overall overall;
  if (all.empty()) {
    overall.figures.word = "empty";
    overall.figures.sentence = "no results";
    return overall;
  }
  const auto count = [&](Verdict verdict) {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const KeyFigures& one) { return one.verdict == verdict; }));
  };
  const std::size_t good = count(Verdict::kGood), bad = count(Verdict::kBad);
  const Verdict verdict = bad != 0 ? Verdict::kBad : good != 0 ? Verdict::kGood : Verdict::kNeutral;
  overall.count = bad != 0 ? bad : good;
  overall.judged = good + bad;
  const KeyFigures* shown = nullptr;
  for (const std::string_view verb : {"verify", "tune", "quantize", "bench", ""}) {
    for (const KeyFigures& one : all) {
      if (shown == nullptr && one.verdict == verdict && (verb.empty() || one.verb == verb)) shown = &one;
    }
  }
  overall.figures = *shown;
  KeyFigures& figures = overall.figures;
  for (const KeyFigures& other : all) {
    if (figures.model.empty() || other.model != figures.model) continue;
    if (figures.original.empty()) figures.original = other.original;
    if (!figures.bytes.is_complete() && other.bytes.is_complete()) figures.bytes = other.bytes;
    if (!figures.memory.is_complete()) figures.memory = other.memory;
    if (!figures.sqnr_db && !figures.is_exact) {
      figures.sqnr_db = other.sqnr_db;
      figures.is_exact = other.is_exact;
    }
    if (!figures.speed || (other.speed && other.verb == "bench")) {
      figures.speed = other.speed;
      figures.speed_low = other.speed_low;
      figures.speed_high = other.speed_high;
      figures.is_speed_certain = other.is_speed_certain;
    }
  }
  return overall;
}

std::string size_words(const KeyFigures& figures) {
  if (!figures.bytes.is_complete() || !(*figures.bytes.before > 0)) return {};
  const double change = 100 * (*figures.bytes.after / *figures.bytes.before - 1);
  if (std::fabs(change) < 0.5) return "same size";
  return fmt::format("{:.0f} % {}", std::fabs(change), change < 0 ? "smaller" : "larger");
}

std::string speed_words(const KeyFigures& figures) {
  if (!figures.speed) return {};
  if (!figures.is_speed_certain) return "no measurable difference in speed";
  return fmt::format("{:.{}f}× as fast", *figures.speed, *figures.speed < 10 ? 1 : 0);
}

std::string quality_words(const KeyFigures& figures) {
  if (figures.quality.is_complete()) {
    const std::string name = figures.metric == "top1_accuracy" ? "accuracy" : figures.metric;
    const double change = *figures.quality.after - *figures.quality.before;
    if (!figures.is_share)
      return fmt::format("{} {:.4g} (original: {:.4g})", name, *figures.quality.after,
                         *figures.quality.before);
    constexpr double kNoChange = 0.0005;
    const std::string now = fmt::format("{:.1f} %", 100 * *figures.quality.after);
    if (std::fabs(change) < kNoChange) return fmt::format("{} unchanged ({})", name, now);
    return fmt::format("{} {:.1f} points {} ({})", name, 100 * std::fabs(change),
                       change < 0 ? "lower" : "higher", now);
  }
  if (figures.is_exact) return "identical outputs";
  if (figures.agreement) return fmt::format("{:.1f} % equal predictions", 100 * *figures.agreement);
  if (figures.sqnr_db) return fmt::format("output SQNR {}", decibel_text(*figures.sqnr_db));
  return {};
}

std::string in_words(const KeyFigures& figures) {
  std::string text;
  for (const std::string& part : {size_words(figures), speed_words(figures), quality_words(figures)}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

}  // namespace ounce::report::html
