#include "report/html/baseline.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <optional>
#include <string>

#include "report/html/key_figures.h"
#include "report/table.h"

namespace ounce::report::html {
namespace {

enum class Tolerated { kShare, kPoints };  // relative, absolute

struct ComparedFigure {
  const char* name;
  std::optional<double> (*value)(const KeyFigures& figures);
  bool is_larger_better;
  Tolerated tolerated;
};

constexpr ComparedFigure kCompared[] = {
    {"drop of the metric", [](const KeyFigures& one) { return one.drop; }, false, Tolerated::kPoints},
    {"agreement", [](const KeyFigures& one) { return one.agreement; }, true, Tolerated::kPoints},
    {"output SQNR in dB", [](const KeyFigures& one) { return one.sqnr_db; }, true, Tolerated::kShare},
    {"speed relative to the original", [](const KeyFigures& one) { return one.speed; }, true,
     Tolerated::kShare},
    {"memory in bytes", [](const KeyFigures& one) { return one.memory.after; }, false, Tolerated::kShare},
    {"size in bytes", [](const KeyFigures& one) { return one.bytes.after; }, false, Tolerated::kShare},
};

}  // namespace

Json compare_with(const Json& baseline, const Json& document, double tolerance) {
  Json compared = Json::array();
  const std::vector<KeyFigures> before = key_figures(baseline);
  bool has_common = false;
  for (const KeyFigures& now : key_figures(document)) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const KeyFigures& one) {
      return one.model == now.model && one.word != "error";
    });
    if (same == before.end() || now.word == "error") continue;
    has_common = true;
    for (const ComparedFigure& row : kCompared) {
      const std::optional<double> was = row.value(*same), is = row.value(now);
      if (!was || !is) continue;
      const double slack = row.tolerated == Tolerated::kPoints ? tolerance : std::abs(*was) * tolerance;
      const double allowed = row.is_larger_better ? *was - slack : *was + slack;
      const bool passed = row.is_larger_better ? *is >= allowed : *is <= allowed;
      compared.push_back({{"model", now.model},
                          {"figure", row.name},
                          {"before", *was},
                          {"now", *is},
                          {"allowed", allowed},
                          {"passed", passed},
                          {"sentence", safe_format("{}: {} is {:.6g}, and was {:.6g} ({:.6g} allowed){}",
                                                   now.model, std::string(row.name), *is, *was, allowed,
                                                   std::string(passed ? "" : ": worse than the baseline"))}});
    }
  }
  if (!has_common && !list(document, "results").empty())
    throw Error(ErrorCode::kBadInput, "the baseline has no model with a file name of this run");
  return compared;
}

bool is_worse(const Json& compared) {
  return std::any_of(compared.begin(), compared.end(),
                     [](const Json& one) { return !is_true(one, "passed"); });
}

std::string baseline_text(const Json& compared) {
  if (!is_worse(compared)) return fmt::format("baseline: passed, {} figures compared\n", compared.size());
  std::string text;
  for (const Json& one : compared) {
    if (!is_true(one, "passed")) text += fmt::format("baseline: {} [OUN408]\n", words(one, "sentence"));
  }
  return text;
}

}  // namespace ounce::report::html
