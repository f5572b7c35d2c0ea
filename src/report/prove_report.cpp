#include "report/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "recipe/format_info.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

std::string decibels(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f} dB or more", *value) : "equal to the original's";
}

std::string run_text(const StatedRun& run) {
  return fmt::format("outputs {} on {} {} (ONNX Runtime {}, data {})", decibels(run.sqnr_db), run.samples,
                     run.is_generated   ? "made-up inputs"
                     : run.samples == 1 ? "sample"
                                        : "samples",
                     run.runtime_version, run.data);
}

const char* word_of(ProofFinding finding) {
  switch (finding) {
    case ProofFinding::kHolds: return "holds";
    case ProofFinding::kFails: return "FAILS";
    case ProofFinding::kNotChecked: break;
  }
  return "not checked";
}

}  // namespace

std::string prove_text(const Proof& proof) {
  const Statement& statement = proof.statement;
  std::string text = safe_format("{}: {}, made by Ounce {}\n", proof.model,
                                 name_and_label(statement.recipe.format), statement.version);
  text += safe_format("  made by      {}\n", making_command(statement));
  if (statement.gate) {
    text += safe_format("  judged by    {}\n", judging_command(statement));
    text += safe_format("  result       {}\n", run_text(statement.gate->run));
    for (const StatedMetric& metric : statement.gate->metrics)
      text +=
          safe_format("               {} {:.4g}, the original {:.4g}; drop from {:.4g} to {:.4g} (95 %)\n",
                      metric.name, metric.candidate, metric.reference, metric.drop_low, metric.drop_high);
  } else if (statement.trial) {
    text += safe_format("  result       {}\n", run_text(*statement.trial));
  }
  std::string releases;
  for (const auto& [machine, version] : statement.releases)
    releases += fmt::format("{}{} from {}", releases.empty() ? "" : ", ", machine, version);
  if (!releases.empty()) text += safe_format("  runs in      ONNX Runtime on {}\n", releases);
  for (const ProofStep& step : proof.steps)
    text += safe_format("  {:<12} {}: {}\n", step.name, std::string(word_of(step.finding)),
                        with_options(step.what));
  text += safe_format("  {}: {}\n", std::string(name_of(proof.verdict())), with_options(proof.reason()));
  return text;
}

std::string prove_table(const std::vector<ProveRow>& rows) {
  Table table({{"model"}, {"format"}, {"statement"}});
  for (const ProveRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.filename().string(), "", "error"});
    } else {
      table.add({row.model.filename().string(), name_and_label(row.result.statement.recipe.format),
                 name_of(row.result.verdict())});
    }
  }
  return table.text();
}

}  // namespace ounce::report
