// A self-contained HTML report of one or several runs. It loads nothing from the network.
//
//   const std::string html = page({{"verify.json", document}});
//
// The report is the template page.html with the documents that --json prints: page.js renders them in the
// browser. Without scripts, the report shows the verdict and a table of key figures (key_figures.h). Names in
// the documents are untrusted. Outside of the embedded JSON they are escaped, page.js makes text nodes of
// them, and the content security policy of the page allows only its own script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html/document.h"

namespace ounce::report::html {

// The embedded files: page.html, page.css, and the scripts as one.
std::string_view page_template();
std::string_view style_sheet();
std::string_view script();

// The first bytes of every report, which distinguish it from other files.
std::string_view page_start();

// Throws Error{kBadInput} with the name of a run whose document is of a verb without a report.
std::string page(const std::vector<Run>& runs);

}  // namespace ounce::report::html
