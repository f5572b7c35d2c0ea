#include "report/html/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/html/key_figures.h"

namespace ounce::report::html {
namespace {

// A result or an error of a document.
struct Case {
  std::string name, word, sentence, figures;
  bool is_failure = false, is_error = false;
};

std::vector<Case> cases_of(const Json& document, int exit_code) {
  std::vector<Case> cases;
  for (const KeyFigures& figures : key_figures(document)) {
    const bool is_error = figures.word == "error";
    cases.push_back({figures.model, figures.word, figures.sentence, in_words(figures),
                     figures.verdict == Verdict::kBad && !is_error, is_error});
  }
  for (const Json& failed : list(document, "baseline")) {
    if (!is_true(failed, "passed"))
      cases.push_back({file_name(failed, "model"), "worse than the baseline", words(failed, "sentence"), "",
                       true, false});
  }
  const auto is_bad = [](const Case& one) { return one.is_failure || one.is_error; };
  if (exit_code != 0 && std::none_of(cases.begin(), cases.end(), is_bad)) {
    cases.push_back({"ounce " + words(document, "verb"), "failed", fmt::format("exit code {}", exit_code), "",
                     true, false});
  }
  return cases;
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : plain(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// Text in a cell of a table, without Markdown and HTML of its own.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : plain(text)) {
    if (std::string_view("\\`*_{}[]<>|#!~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string junit_of(const Json& document, int exit_code) {
  const std::vector<Case> cases = cases_of(document, exit_code);
  std::size_t failures = 0, errors = 0;
  std::string tests;
  const std::string verb = words(document, "verb");
  for (const Case& one : cases) {
    failures += one.is_failure ? 1 : 0;
    errors += one.is_error ? 1 : 0;
    tests += fmt::format("    <testcase classname=\"ounce.{}\" name=\"{}\"", xml(verb), xml(one.name));
    if (!one.is_failure && !one.is_error) {
      tests += fmt::format("><system-out>{}: {}</system-out></testcase>\n", xml(one.word), xml(one.sentence));
      continue;
    }
    const char* const kind = one.is_error ? "error" : "failure";
    tests += fmt::format("><{} message=\"{}\">{}</{}></testcase>\n", kind, xml(one.sentence),
                         xml(one.figures), kind);
  }
  return fmt::format(
      "{0}{1}\" tests=\"{2}\" failures=\"{3}\" errors=\"{4}\">\n  <testsuite name=\"{5}\" tests=\"{2}\" "
      "failures=\"{3}\" errors=\"{4}\">\n{6}  </testsuite>\n</testsuites>\n",
      kJunitStart, xml(verb), cases.size(), failures, errors, xml(words(document, "command")), tests);
}

std::string markdown_of(const Json& document, int exit_code) {
  std::string text = fmt::format("{}### ounce {}\n\n| model | result | |\n|---|---|---|\n", kMarkdownStart,
                                 cell(words(document, "verb")));
  for (const Case& one : cases_of(document, exit_code)) {
    const char* const sign = one.is_failure || one.is_error ? "❌ " : one.word == "passed" ? "✅ " : "";
    text += fmt::format("| {} | {}{} | {}{}{} |\n", cell(one.name), sign, cell(one.word), cell(one.figures),
                        one.figures.empty() || one.sentence.empty() ? "" : "<br>", cell(one.sentence));
  }
  return text + '\n';
}

}  // namespace ounce::report::html
