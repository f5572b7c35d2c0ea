// A part of the page: what one run has to say. Every verb that can be drawn has a file that makes one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/html/document.h"
#include "report/html/markup.h"

namespace ounce::report::html {

enum class Verdict { kGood, kBad, kNeutral };

// A row of the table that compares runs: dashes where a run says nothing.
struct SummaryRow {
  std::string model, what, size, speed, quality, verdict;
  Verdict kind = Verdict::kNeutral;
};

struct Section {
  std::string title;  // "verify: model.w8.onnx against model.onnx"
  Verdict verdict = Verdict::kNeutral;
  std::string headline;  // what came out, in a sentence
  Markup body;
  std::vector<SummaryRow> summary;
};

// Each takes a whole document of its verb.
std::vector<Section> quantize_sections(const Json& document);
std::vector<Section> verify_sections(const Json& document);
std::vector<Section> bench_sections(const Json& document);
std::vector<Section> sensitivity_sections(const Json& document);
std::vector<Section> tune_sections(const Json& document);
std::vector<Section> advise_sections(const Json& document);
std::vector<Section> check_sections(const Json& document);
std::vector<Section> diff_sections(const Json& document);

// The parts that sections share.
struct Tile {
  std::string name, before, after, remark;  // `before` may be empty
};
Markup tiles(const std::vector<Tile>& all);
Markup badge(Verdict verdict, const std::string& words);
Markup heading(Literal words);
Markup paragraph(const std::string& words);
Markup note_list(const std::vector<std::string>& notes);
Markup command_block(const std::string& command);
// Folded together until somebody wants it.
Markup details(const std::string& title, const Markup& content);
// A section for each result, which `draw` makes, and for each error. Of very many the first are drawn, and
// one section says how many are not: a document may be a list of a million nothings.
std::vector<Section> section_each(const std::string& verb, const Json& document,
                                  const std::function<Section(const Json&)>& draw);
// Of CpuComparison.
Markup cpu_table(const Json& cpus);

// The style sheet and the script of a page: page.css and page.js as they stand beside this file.

std::string_view style_sheet();
std::string_view script();

}  // namespace ounce::report::html
