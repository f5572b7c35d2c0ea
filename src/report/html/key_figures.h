// The verdict and the key figures of each result: size, speed, quality and memory. The report shows them
// first, and without scripts it shows nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/html/document.h"

namespace ounce::report::html {

enum class Verdict { kGood, kBad, kNeutral };

struct BeforeAfter {
  std::optional<double> before, after;
  bool is_complete() const { return before && after; }
};

struct KeyFigures {
  std::string verb;
  std::string model, original;  // file names; the original may be empty
  Verdict verdict = Verdict::kNeutral;
  std::string word;      // "passed", "failed", "written", "measured"
  std::string sentence;  // why

  BeforeAfter bytes, memory;
  BeforeAfter quality;  // of the metric on labeled data
  std::string metric;   // "top1_accuracy"
  bool is_share = false;
  std::optional<double> drop;                          // of the metric; positive: worse
  std::optional<double> agreement, sqnr_db;            // with the original
  bool is_exact = false;                               // all outputs are equal
  std::optional<double> speed, speed_low, speed_high;  // relative to the original
  bool is_speed_certain = false;                       // the difference is measurable

  std::size_t run = 0, result = 0;  // the document, and the position in its results
};

// At most kMostResults of one document, and an entry that counts the rest. Throws nothing: documents are
// untrusted, and what is missing stays empty.
inline constexpr std::size_t kMostResults = 500;
std::vector<KeyFigures> key_figures(const Json& document);

// The result to show first: a failure if there is one, of verify and tune before others. Figures that it
// lacks come from other results of the same model. `count` results have the same verdict, of `judged` with
// one.
struct Overall {
  KeyFigures figures;
  std::size_t count = 0, judged = 0;
};
Overall overall_of(const std::vector<KeyFigures>& all);

// Each figure in words, for people: "71 % smaller", "4.4× as fast", "accuracy unchanged (92.2 %)". Empty if
// there is none.
std::string size_words(const KeyFigures& figures);
std::string speed_words(const KeyFigures& figures);
std::string quality_words(const KeyFigures& figures);
// All of them: "71 % smaller, 4.4× as fast, accuracy unchanged (92.2 %)".
std::string in_words(const KeyFigures& figures);

}  // namespace ounce::report::html
