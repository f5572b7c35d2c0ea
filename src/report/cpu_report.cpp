#include "report/cpu_report.h"

#include <fmt/format.h>

#include <cmath>

#include "report/option_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

bool is_equal(double sqnr_db) { return std::isinf(sqnr_db) && sqnr_db > 0; }

std::string line_of(const CpuComparison& found) {
  if (!found.is_run()) return plainly("{}: not run: {}", found.cpu, with_options(found.why_not));
  std::string text = plainly("{}: ", found.cpu);
  if (is_equal(found.sqnr_db)) {
    text += "equal to the bit";
  } else {
    text += plainly("{} from what it gives here", decibel_text(found.sqnr_db));
    if (!is_equal(found.reference_sqnr_db))
      text += plainly(" (the original: {})", decibel_text(found.reference_sqnr_db));
  }
  if (found.flips != 0) {
    text += plainly(", {} of {} answers are others (the original: {})", found.flips, found.answers,
                    found.reference_flips);
  }
  text += plainly(", {} sample{}, {}, ONNX Runtime {}", found.samples, found.samples == 1 ? "" : "s",
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
