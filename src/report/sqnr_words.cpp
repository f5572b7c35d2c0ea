#include "report/sqnr_words.h"

#include <fmt/format.h>

#include <cmath>

namespace ounce::report {

std::string sqnr_words(double sqnr_db) {
  constexpr double kClose = 30, kVeryClose = 40, kSame = 60;
  if (!std::isfinite(sqnr_db)) return "";
  const double off = 100 * std::pow(10, -sqnr_db / 20);
  const std::string text = fmt::format("the outputs are off by {:.2g} % of their size", off);
  if (sqnr_db >= kSame) return text + ": no answer will notice";
  if (sqnr_db >= kVeryClose) return text + ": answers hardly ever change";
  if (sqnr_db >= kClose) return text + ": answers seldom change";
  if (sqnr_db >= kDoubtfulSqnr) return text + ": answers that are close may change";
  return fmt::format("warning: {}: use it only if what counts for you still holds",
                     off < 100 ? text : "the outputs are off by as much as they are large, or more");
}

std::string label_words(double sqnr_db) {
  if (!std::isfinite(sqnr_db)) return "";
  const std::string text = fmt::format("{:.2g} % of the labels changed", 100 * std::pow(10, -sqnr_db / 10));
  return sqnr_db >= kDoubtfulSqnr ? text : "warning: " + text;
}

}  // namespace ounce::report
