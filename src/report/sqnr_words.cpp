#include "report/sqnr_words.h"

#include <fmt/format.h>

#include <cmath>

#include "base/quality.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {

std::string sqnr_words(double sqnr_db) {
  if (!std::isfinite(sqnr_db)) return "";
  const double off = 100 * std::pow(10, -sqnr_db / 20);
  const std::string text = fmt::format("the outputs are off by {:.2g} % of their size", off);
  if (sqnr_db >= Quality::kHarmless) return text + ": no answer will notice";
  if (sqnr_db >= Quality::kVeryGood) return text + ": answers hardly ever change";
  if (sqnr_db >= Quality::kGood) return text + ": answers seldom change";
  if (sqnr_db >= Quality::kMinUsable) return text + ": answers that are close may change";
  return fmt::format("warning: {}: use it only if what counts for you still holds",
                     off < 100 ? text : "the outputs are off by as much as they are large, or more");
}

std::string label_words(double sqnr_db) {
  if (!std::isfinite(sqnr_db)) return "";
  const std::string text = fmt::format("{:.2g} % of the labels changed", 100 * std::pow(10, -sqnr_db / 10));
  return sqnr_db >= Quality::kMinUsable ? text : "warning: " + text;
}

namespace {

bool is_equal(double sqnr_db) { return std::isinf(sqnr_db) && sqnr_db > 0; }

std::string line_of(const CpuComparison& found) {
  if (!found.is_run()) return safe_format("{}: not run: {}", found.cpu, with_options(found.why_not));
  std::string text = safe_format("{}: ", found.cpu);
  if (is_equal(found.sqnr_db)) {
    text += "equal to the bit";
  } else {
    text += safe_format("{} from what it gives here", decibel_text(found.sqnr_db));
    if (!is_equal(found.reference_sqnr_db))
      text += safe_format(" (the original: {})", decibel_text(found.reference_sqnr_db));
  }
  if (found.flips != 0) {
    text += safe_format(", {} of {} answers are others (the original: {})", found.flips, found.answers,
                        found.reference_flips);
  }
  text += safe_format(", {} sample{}, {}, ONNX Runtime {}", found.samples, found.samples == 1 ? "" : "s",
                      found.how, found.runtime_version);
  return found.is_same() ? text : text + ": NOT THE SAME";
}

}  // namespace

std::vector<std::string> cpu_lines(const std::vector<CpuComparison>& cpus) {
  std::vector<std::string> lines;
  for (const CpuComparison& found : cpus) lines.push_back(line_of(found));
  return lines;
}

}  // namespace ounce::report
